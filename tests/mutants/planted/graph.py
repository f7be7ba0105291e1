"""Blocks, loops, gradients and Programs."""

from tests.mutants.mutant import Mutant

BACKWARD_PASS = "lodcore/graph/gradients/backward_pass.pyx"
BLOCK = "lodcore/graph/block.py"
BODY = "lodcore/graph/loops/body.py"
EXECUTOR = "lodcore/graph/executor.py"
FRAMES = "lodcore/graph/loops/frames.py"

TEST_AUTODIFF = "tests/graph/gradients/test_autodiff.py"
TEST_DEFERRED_LOOPS = "tests/graph/loops/test_deferred_loops.py"
TEST_SHARED_OPERANDS = "tests/graph/loops/test_shared_operands.py"
TEST_WHILE_LOOP = "tests/graph/loops/test_while_loop.py"

MUTANTS = [
    Mutant(
        "old-version-read",
        BLOCK,
        "        return self.versions.get(found, found)\n",
        "        return found\n",
        "tests/graph/loops/test_recorded_arrays.py",
    ),
    Mutant(
        "captured-anew-at-each-use",
        BLOCK,
        "        self.captures[key] = given, captured\n",
        "        self.captures[id(captured)] = given, captured\n",
        TEST_WHILE_LOOP,
    ),
    Mutant(
        "errors-of-signals-lost",
        "lodcore/graph/engine.pyx",
        "except (ArithmeticError, TypeError, ValueError):",
        "except Exception:",
        TEST_WHILE_LOOP,
    ),
    Mutant(
        "results-in-the-order-of-the-first-run",
        EXECUTOR,
        "        key = (len(program.ops), keep_scopes, *map(id, wanted))",
        "        key = (len(program.ops), keep_scopes, *sorted(map(id, wanted)))",
        "tests/graph/test_fetching.py",
    ),
    Mutant(
        "plan-of-a-shorter-program",
        EXECUTOR,
        "key = (len(program.ops), keep_scopes, *map(id, wanted))",
        "key = (0, keep_scopes, *map(id, wanted))",
        "tests/graph/test_program.py",
    ),
    Mutant(
        "writes-kept-of-what-raised",
        "lodcore/graph/gradients/autodiff.py",
        "    recorded = computing(f, *variables)\n",
        (
            "    try:\n        recorded = computing(f, *variables)\n    except Exception:\n"
            "        tape.write_outside()\n        raise\n"
        ),
        TEST_AUTODIFF,
    ),
    Mutant(
        "gradients-handed-on-and-kept",
        BACKWARD_PASS,
        "[self.take(v) for v in carried]",
        "[self.found.get(v) for v in carried]",
        "tests/graph/gradients/test_autodiff.py tests/graph/loops/test_random_loops.py",
    ),
    Mutant(
        "added-steps-count-again",
        BACKWARD_PASS,
        "calls.cotangents, calls.others, calls.results, calls.rows = [], [], [], 0\n\n    def finish",
        "calls.rows = 0\n\n    def finish",
        TEST_SHARED_OPERANDS,
    ),
    Mutant(
        "elements-without-a-gradient-are-holes",
        "lodcore/graph/gradients/cotangents.py",
        "for at, one in known if differentiable(one)}",
        "for at, one in known if at in gradient}",
        TEST_AUTODIFF,
    ),
    Mutant(
        "run-reads-what-a-variable-became",
        "lodcore/graph/gradients/rule_calls.pyx",
        "[v.held if",
        "[v.get() if",
        TEST_DEFERRED_LOOPS,
    ),
    Mutant(
        "first-update-counts",
        FRAMES,
        "                    now[op.variable] = op.value\n",
        "                    now[op.variable] = op.value if now[op.variable] is op.variable else now[op.variable]\n",
        TEST_WHILE_LOOP,
    ),
    Mutant(
        "rows-known-in-a-body", BODY, "return Spec((None, *spec.shape[1:]), *spec[1:])", "return spec", TEST_WHILE_LOOP
    ),
    Mutant(
        "numbers-have-no-name-of-their-own",
        BODY,
        "return id(given) in self.captures or (",
        "return False and (",
        TEST_DEFERRED_LOOPS,
    ),
    Mutant("advance-by-one-only", FRAMES, "= values[place] + by", "= values[place] + 1", TEST_WHILE_LOOP),
    Mutant("wrong-operator-named", FRAMES, "self.body.ops[frame[0]].name", "self.body.ops[0].name", TEST_WHILE_LOOP),
    Mutant("breaking-step-counts-whole", FRAMES, "trace.ran = at", "trace.ran = ops", TEST_AUTODIFF),
    Mutant(
        "loop-variables-taken-for-shared",
        FRAMES,
        "shared = set(self.captured)",
        "shared = {*self.captured, *self.carried}",
        TEST_SHARED_OPERANDS,
    ),
    Mutant(
        "mapped-rows-cut-in-another-order",
        "lodcore/graph/loops/map_fn.py",
        "ends = np.cumsum(rows)",
        "ends = np.cumsum(rows[::-1])",
        "tests/graph/loops/test_map_fn.py",
    ),
    Mutant(
        "slot-read-once-for-all-versions",
        "lodcore/graph/loops/var_array.py",
        "now = block, block.known(self._array)",
        "now = block, block",
        "tests/graph/loops/test_captured_arrays.py",
    ),
    Mutant(
        "names-of-parents-unknown",
        "lodcore/graph/scope.py",
        "                return found\n            scope = scope._parent\n",
        "                return found\n            scope = None\n",
        "tests/graph/test_scope.py",
    ),
    Mutant(
        "a-Variable-keeps-the-Spec-of-its-old-value",
        "lodcore/graph/variable.py",
        "        self.put(self.settable(value))",
        "        self.held = self.settable(value)",
        "tests/graph/test_variable.py",
    ),
]
