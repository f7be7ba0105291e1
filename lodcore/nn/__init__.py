"""Networks: decoding."""

from lodcore.nn.beam_search import BeamSearchDecoder, BeamSearchResult

__all__ = [
    "BeamSearchDecoder",
    "BeamSearchResult",
]
