"""Blocks, loops, arrays as values, gradients, scopes and Programs."""

from tests.mutants.mutant import Mutant

TENSOR_ARRAY = "lodcore/tensors/tensor_array.py"
BLOCK = "lodcore/graph/block.py"
BODY = "lodcore/graph/loops/body.py"
BACK = "lodcore/graph/gradients/backward_pass.pyx"
ENGINE = "lodcore/graph/engine.pyx"
EXECUTOR = "lodcore/graph/executor.py"
GRADIENTS = "lodcore/graph/gradients/cotangents.py"
STEPS = "lodcore/graph/loops/frames.py"
WHILE_LOOP = "lodcore/graph/loops/while_loop.py"

TEST_ARRAYS = "tests/graph/loops/test_arrays.py"
TEST_AUTODIFF = "tests/graph/gradients/test_autodiff.py"
TEST_ENGINE = "tests/graph/test_engine.py"
TEST_PROGRAM = "tests/graph/test_program.py"
TEST_LATER = "tests/graph/loops/test_deferred_loops.py"
TEST_RANDOM = "tests/graph/loops/test_random_loops.py"
TEST_SHARED = "tests/graph/loops/test_shared_products.py"
TEST_SHARED_OPERANDS = "tests/graph/loops/test_shared_operands.py"
TEST_WHILE_LOOP = "tests/graph/loops/test_while_loop.py"

MUTANTS = [
    # -- what the steps of a loop share
    Mutant(
        "shared-gradient-begins-anew",
        "lodcore/ops/networks/matrix.py",
        "multiply_pairs(rows, None, d, None, total is not None, made)",
        "multiply_pairs(rows, None, d, None, False, made)",
        TEST_SHARED,
    ),
    Mutant(
        "later-slice-replaces-gradient",
        "lodcore/ops/index/index_values.py",
        "            known[chosen] += d\n",
        "            known[chosen] = d\n",
        TEST_SHARED,
    ),
    # -- Blocks
    Mutant(
        "old-version-read",
        BLOCK,
        "        return self.versions.get(found, found)\n",
        "        return found\n",
        TEST_ARRAYS,
    ),
    Mutant(
        "captured-anew-at-each-use",
        BLOCK,
        "        self.captures[key] = given, captured\n",
        "        self.captures[id(captured)] = given, captured\n",
        TEST_WHILE_LOOP,
    ),
    # -- bodies of loops
    Mutant(
        "first-update-counts",
        BODY,
        "                now[op.variable] = op.value\n",
        "                now[op.variable] = op.value if now[op.variable] is op.variable else now[op.variable]\n",
        TEST_WHILE_LOOP,
    ),
    Mutant("update-of-another-dtype", BODY, "        old.dtype != new.dtype\n", "        False\n", TEST_WHILE_LOOP),
    Mutant(
        "rows-known-in-a-body",
        BODY,
        "return Spec((None, *spec.shape[1:]), *spec[1:])",
        "return spec",
        TEST_WHILE_LOOP,
    ),
    Mutant(
        "counter-that-is-updated-advances",
        WHILE_LOOP,
        "v.counter.number = int(v not in updated)",
        "v.counter.number = 1",
        f"{TEST_WHILE_LOOP} {TEST_RANDOM}",
    ),
    Mutant(
        "loop-without-break",
        WHILE_LOOP,
        "if not any(isinstance(op, Break) for op in body.ops):",
        "if not body.ops:",
        TEST_WHILE_LOOP,
    ),
    # -- running loops
    Mutant("advance-by-one-only", STEPS, "= values[place] + by", "= values[place] + 1", TEST_WHILE_LOOP),
    Mutant("wrong-operator-named", STEPS, "self.body.ops[frame[0]].name", "self.body.ops[0].name", TEST_WHILE_LOOP),
    Mutant(
        "errors-of-signals-lost",
        ENGINE,
        "except (ArithmeticError, TypeError, ValueError, Warning):",
        "except Exception:",
        TEST_WHILE_LOOP,
    ),
    # -- back through loops
    Mutant(
        "looked-up-rows-go-on-sparse", BACK, "found.to_dense() if type(found) is SparseTensor else", "", TEST_AUTODIFF
    ),
    Mutant("breaking-step-counts-whole", STEPS, "trace.ran = at", "trace.ran = ops", TEST_AUTODIFF),
    Mutant(
        "gradients-handed-on-and-kept",
        BACK,
        "[self.take(v) for v in carried]",
        "[self.found.get(v) for v in carried]",
        f"{TEST_AUTODIFF} {TEST_RANDOM}",
    ),
    # -- gradients
    Mutant(
        "added-into-the-array-of-another",
        BACK,
        "elif type(gradient) is cnp.ndarray and variable in self._own:",
        "elif type(gradient) is cnp.ndarray:",
        f"{TEST_AUTODIFF} {TEST_RANDOM}",
    ),
    Mutant(
        "sum-still-owned-when-taken",
        BACK,
        "            self._own.discard(variable)\n",
        "            pass\n",
        f"{TEST_AUTODIFF} {TEST_RANDOM}",
    ),
    Mutant("steps-not-added-at-the-end", STEPS, "            gradients.finish()\n", "", TEST_SHARED_OPERANDS),
    Mutant(
        "added-steps-count-again",
        BACK,
        "calls.cotangents, calls.others, calls.results, calls.rows = [], [], [], 0\n\n    def finish",
        "calls.rows = 0\n\n    def finish",
        TEST_SHARED_OPERANDS,
    ),
    Mutant(
        "loop-variables-taken-for-shared",
        STEPS,
        "shared = set(self.captured)",
        "shared = {*self.captured, *self.carried}",
        TEST_SHARED_OPERANDS,
    ),
    Mutant(
        "rows-made-wider-taken-for-rows",
        BACK,
        "if way.rule_call.elementwise and not cnp.PyArray_SAMESHAPE(d, x):",
        "if False:",
        TEST_SHARED_OPERANDS,
    ),
    Mutant("rows-of-several-axes-joined", BACK, "if not is_matrix(d) or ", "if ", TEST_SHARED_OPERANDS),
    Mutant(
        "weight-not-transposed",
        "lodcore/ops/networks/matmul.py",
        "d.dot(y.T) if needs.x",
        "d.dot(y) if needs.x",
        TEST_SHARED_OPERANDS,
    ),
    Mutant(
        "value-of-another-dtype-let-go",
        ENGINE,
        "return cnp.PyArray_SAMESHAPE(one, other) and cnp.PyArray_DESCR(one) is cnp.PyArray_DESCR(other)",
        "return cnp.PyArray_SAMESHAPE(one, other)",
        TEST_ENGINE,
    ),
    Mutant(
        "value-of-another-shape-let-go",
        ENGINE,
        "return cnp.PyArray_SAMESHAPE(one, other) and cnp.PyArray_DESCR(one) is cnp.PyArray_DESCR(other)",
        "return cnp.PyArray_DESCR(one) is cnp.PyArray_DESCR(other)",
        TEST_ENGINE,
    ),
    Mutant(
        "product-read-by-no-gradient",
        "lodcore/ops/elementwise/math.py",
        "def _(d: Array, x: Any, y: Any, needs: Any) -> tuple[Any, Any]:\n    return d * y",
        "def _(d: Array, y: Any, out: Any, needs: Any) -> tuple[Any, Any]:\n    x = out\n    return d * y",
        TEST_SHARED_OPERANDS,
    ),
    Mutant(
        "memory-that-shrank-has-no-zeros",
        "lodcore/base/buffers.pyx",
        "    memset(cnp.PyArray_BYTES(made) + known, 0, cnp.PyArray_NBYTES(made) - known)\n",
        "",
        "tests/base/test_recycling.py",
    ),
    Mutant("gradient-stays-broadcast", BACK, "if not has_shape_of(gradient, value):", "if False:", TEST_AUTODIFF),
    Mutant(
        "gradients-share-memory",
        "lodcore/graph/gradients/rule_calls.pyx",
        "elif key in self._seen or cnp.PyArray_BASE(values) is not NULL or not cnp.PyArray_ISWRITEABLE(values):",
        "elif key in self._seen:",
        TEST_AUTODIFF,
    ),
    Mutant(
        "integers-on-the-way",
        "lodcore/graph/gradients/rule_calls.pyx",
        "[out for out in outputs if differentiable(out.held)]",
        "outputs",
        f"{TEST_AUTODIFF} {TEST_PROGRAM}",
    ),
    # -- arrays as values
    Mutant(
        "overwritten-slot-gets-a-gradient",
        "lodcore/ops/arrays/tensor_arrays.py",
        "return d, None, d.pop(",
        "return d, None, d.get(",
        TEST_ARRAYS,
    ),
    Mutant(
        "elements-joined-along-the-first-axis-only",
        "lodcore/ops/arrays/joined_arrays.py",
        "    axis %= d.ndim\n",
        "    axis = 0\n",
        f"{TEST_ARRAYS} tests/operators/test_operators.py",
    ),
    Mutant(
        "slot-read-once-for-all-versions",
        "lodcore/graph/loops/var_array.py",
        "now = block, block.known(self._array)",
        "now = block, block",
        "tests/graph/loops/test_captured_arrays.py",
    ),
    Mutant(
        "mapped-rows-cut-in-another-order",
        "lodcore/graph/loops/map_fn.py",
        "ends = np.cumsum(rows)",
        "ends = np.cumsum(rows[::-1])",
        "tests/graph/loops/test_map_fn.py",
    ),
    # -- Programs and Scopes
    Mutant(
        "plan-of-a-shorter-program",
        EXECUTOR,
        "key = (len(program.ops), keep_scopes, *map(id, wanted))",
        "key = (0, keep_scopes, *map(id, wanted))",
        TEST_PROGRAM,
    ),
    Mutant(
        "names-of-parents-unknown",
        "lodcore/graph/scope.py",
        "                return found\n            scope = scope._parent\n",
        "                return found\n            scope = None\n",
        "tests/graph/test_scope.py",
    ),
    # -- loops that run later, and counters
    Mutant(
        "run-begins-where-the-last-one-ended",
        WHILE_LOOP,
        "        return x.get()\n    if home is None:\n",
        "        return x\n    if home is None:\n",
        TEST_LATER,
    ),
    Mutant(
        "run-reads-what-a-variable-became",
        "lodcore/graph/gradients/rule_calls.pyx",
        "[v.held if",
        "[v.get() if",
        TEST_LATER,
    ),
    Mutant(
        "numbers-have-no-name-of-their-own",
        BODY,
        "return id(given) in self.captures or (",
        "return False and (",
        TEST_LATER,
    ),
    Mutant(
        "any-integers-count",
        BODY,
        "        if not is_one_integer(spec):\n",
        "        if is_one_integer(spec) is None:\n",
        "tests/graph/loops/test_counters.py",
    ),
]
