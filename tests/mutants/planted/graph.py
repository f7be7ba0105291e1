"""Blocks, loops, gradients and Programs."""

DEFECTS = {
    ("lodcore/graph/block.py", "tests/graph/loops/test_recorded_arrays.py"): [
        ("old-version-read", "        return self.versions.get(found, found)\n", "        return found\n"),
    ],
    ("lodcore/graph/block.py", "tests/graph/loops/test_while_loop.py"): [
        (
            "captured-anew-at-each-use",
            "        self.captures[key] = given, captured\n",
            "        self.captures[id(captured)] = given, captured\n",
        ),
    ],
    ("lodcore/graph/engine.pyx", "tests/graph/loops/test_while_loop.py"): [
        ("errors-of-signals-lost", "except (ArithmeticError, TypeError, ValueError):", "except Exception:"),
    ],
    ("lodcore/graph/executor.py", "tests/graph/test_fetching.py"): [
        (
            "results-in-the-order-of-the-first-run",
            'flag("Executor.run: keep_scopes", keep_scopes), *map(id, wanted))',
            'flag("Executor.run: keep_scopes", keep_scopes), *sorted(map(id, wanted)))',
        ),
    ],
    ("lodcore/graph/executor.py", "tests/graph/test_program.py"): [
        (
            "plan-of-a-shorter-program",
            '= (len(program.ops), flag("Executor.run: keep_scopes", keep_scopes), ',
            '= (0, flag("Executor.run: keep_scopes", keep_scopes), ',
        ),
    ],
    (
        "lodcore/graph/gradients/backward_pass.pyx",
        "tests/graph/gradients/test_autodiff.py tests/graph/loops/test_random_loops.py",
    ): [
        ("gradients-handed-on-and-kept", "[self.take(v) for v in carried]", "[self.found.get(v) for v in carried]"),
    ],
    ("lodcore/graph/gradients/backward_pass.pyx", "tests/graph/loops/test_shared_operands.py"): [
        (
            "added-steps-count-again",
            "calls.cotangents, calls.others, calls.results, calls.rows = [], [], [], 0\n\n    def finish",
            "calls.rows = 0\n\n    def finish",
        ),
    ],
    ("lodcore/graph/gradients/cotangents.py", "tests/graph/gradients/test_autodiff.py"): [
        (
            "elements-without-a-gradient-are-holes",
            "for at, one in known if differentiable(one)}",
            "for at, one in known if at in gradient}",
        ),
    ],
    ("lodcore/graph/gradients/rule_calls.pyx", "tests/graph/loops/test_deferred_loops.py"): [
        ("run-reads-what-a-variable-became", "[v.held if isinstance(", "[v.get() if isinstance("),
    ],
    ("lodcore/graph/loops/body.py", "tests/graph/loops/test_while_loop.py"): [
        ("rows-known-in-a-body", "return Spec((None, *spec.shape[1:]), *spec[1:])", "return spec"),
    ],
    ("lodcore/graph/loops/body.py", "tests/graph/loops/test_deferred_loops.py"): [
        ("numbers-have-no-name-of-their-own", "return id(given) in self.captures or (", "return False and ("),
    ],
    ("lodcore/graph/loops/frames.py", "tests/graph/loops/test_while_loop.py"): [
        (
            "first-update-counts",
            "                    now[op.variable] = op.value\n",
            (
                "                    now[op.variable] = op.value if now[op.variable] is op.variable else "
                "now[op.variable]\n"
            ),
        ),
        ("advance-by-one-only", "= values[place] + by", "= values[place] + 1"),
        ("wrong-operator-named", "self.body.ops[frame[0]].name", "self.body.ops[0].name"),
    ],
    ("lodcore/graph/loops/frames.py", "tests/graph/gradients/test_autodiff.py"): [
        ("breaking-step-counts-whole", "trace.ran = at", "trace.ran = ops"),
    ],
    ("lodcore/graph/loops/frames.py", "tests/graph/loops/test_shared_operands.py"): [
        ("loop-variables-taken-for-shared", "shared = set(self.captured)", "shared = {*self.captured, *self.carried}"),
    ],
    ("lodcore/graph/loops/map_fn.py", "tests/graph/loops/test_map_fn.py"): [
        ("mapped-rows-cut-in-another-order", "ends = np.cumsum(rows)", "ends = np.cumsum(rows[::-1])"),
    ],
    ("lodcore/graph/loops/var_array.py", "tests/graph/loops/test_captured_arrays.py"): [
        ("slot-read-once-for-all-versions", "now = block, block.known(self._array)", "now = block, block"),
    ],
    ("lodcore/graph/scope.py", "tests/graph/test_scope.py"): [
        (
            "names-of-parents-unknown",
            "                return found\n            scope = scope._parent\n",
            "                return found\n            scope = None\n",
        ),
    ],
    ("lodcore/graph/variable.py", "tests/graph/test_variable.py"): [
        (
            "a-Variable-keeps-the-Spec-of-its-old-value",
            "        self.put(self.settable(value))",
            "        self.held = self.settable(value)",
        ),
    ],
}
