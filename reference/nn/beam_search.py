"""Beam search for one source, branch by branch; and exhaustive search through all hypotheses.

`step` takes the last token and the state of a branch, and returns a list of log probabilities and the next state.
`may(tokens, token)` returns whether a token may come next, `penalty(length)` the divisor of a log probability. Both
searches return pairs of tokens and score, the best first; equal ones are in the order in which they were finished.
"""

from reference.ops.beam import insert

__all__ = ["beam_search", "exhaustive_search", "greedy_search"]

IMPOSSIBLE = float("-inf")


def beam_search(step, state, zero, start_id, end_id, beam_size, max_length, penalty, may):
    """Keep the `beam_size` best continuations of all branches in each step; `zero` is the initial score."""
    branches, finished = [((), zero, state)], []
    for length in range(1, max_length + 1):
        beam = []
        for number, (tokens, score, state) in enumerate(branches):
            for token, more, following in _continuations(step, tokens, score, state, start_id, may):
                insert(beam, beam_size, (more, number, (*tokens, token), following))
        branches = []
        for score, _, tokens, following in sorted(beam, key=lambda item: item[1]):
            if tokens[-1] == end_id or length == max_length:
                finished.append((tokens, float(score) / penalty(length)))
            else:
                branches.append((tokens, score, following))
    return sorted(finished, key=lambda found: -found[1])


def _continuations(step, tokens, score, state, start_id, may):
    """List the possible next tokens, the scores of the hypotheses with them, and the state."""
    log_probs, following = step(tokens[-1] if tokens else start_id, state)
    every = enumerate(log_probs)
    return [(t, score + x, following) for t, x in every if x > IMPOSSIBLE and may(tokens, t)]


def exhaustive_search(step, state, zero, start_id, end_id, max_length, penalty, may):
    """Evaluate every hypothesis."""
    open_, finished = [((), zero, state)], []
    for length in range(1, max_length + 1):
        following = []
        for tokens, score, state in open_:
            found = _continuations(step, tokens, score, state, start_id, may)
            for token, more, after in sorted(found, key=lambda one: -one[1]):
                if token == end_id or length == max_length:
                    finished.append(((*tokens, token), float(more) / penalty(length)))
                else:
                    following.append(((*tokens, token), more, after))
        open_ = following
    return sorted(finished, key=lambda found: -found[1])


def greedy_search(step, state, zero, start_id, end_id, max_length, penalty, may):
    """Take the most probable token in each step, the last one of several, until the end."""
    tokens, score = (), zero
    while len(tokens) < max_length and (not tokens or tokens[-1] != end_id):
        found = _continuations(step, tokens, score, state, start_id, may)
        if not found:
            return []
        best = max(more for _, more, _ in found)
        token, score, state = [one for one in found if one[1] == best][-1]
        tokens = (*tokens, token)
    return [(tokens, float(score) / penalty(len(tokens)))]
