"""Programs of PaddlePaddle 1.8.5, of one operator each: feeds made of arguments, gradients, fetches. For Python 3.7."""

import numpy as np
from forms import dense, dtypes, is_ragged, is_tensor, ragged, some_batch, unable
from paddle import fluid

REALS = ("float32", "float64")
layers, flow = fluid.layers, fluid.layers.control_flow
PLACE = fluid.CPUPlace()


def fed(values, lod=()):
    tensor = fluid.LoDTensor()
    tensor.set(np.ascontiguousarray(values), PLACE)
    if lod:
        tensor.set_lod([list(level) for level in lod])
    return tensor


class Net:
    """A program of one operator: feeds made of arguments, and fetches."""

    def __init__(self):
        self.feeds, self.leaves, self.count = {}, {}, 0

    def data(self, thing, column=True, dtype=None, fixed=False):
        """A Variable of a tensor; rows without axes get a column."""
        if not is_tensor(thing):
            return thing
        values = thing["values"] if dtype is None else thing["values"].astype(dtype)
        if column and values.ndim == 1:
            values = values[:, None]
        lod = thing["lod"] if is_ragged(thing) else ()
        if lod and len(lod[0]) < 2:
            unable("no sequences: a level has two offsets at least")
        variable = self.feed(values, lod, fixed)
        if thing["dtype"] in REALS:
            variable.stop_gradient = False
            self.leaves[id(thing)] = variable
        return variable

    def parameter(self, thing, **how):
        """A Variable of which all sizes are known before it is run."""
        return self.data(thing, fixed=True, **how)

    def feed(self, values, lod=(), fixed=False):
        name = "x{}".format(len(self.feeds))
        shape = list(values.shape) if fixed else [-1] + list(values.shape[1:]) if values.ndim else [1]
        variable = fluid.data(name, shape, values.dtype.name, lod_level=len(lod))
        self.feeds[name] = fed(values, lod)
        return variable

    def structure(self, thing):
        if len(thing["lod"][0]) < 2:
            unable("no sequences: a level has two offsets at least")
        return self.feed(np.zeros((thing["num_rows"], 1), "float32"), thing["lod"])

    def table(self, thing):
        """A rank table, made of a batch with these lengths."""
        sizes = np.zeros(len(thing["lengths"]), int)
        sizes[thing["indices"]] = thing["lengths"]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        return flow.lod_rank_table(self.structure({"num_rows": offsets[-1], "lod": [offsets]}))

    def call(self, kind, inputs, outputs, **attrs):
        """Append an operator that has no function in Python: `outputs` are its results and their dtypes."""
        block = fluid.default_main_program().current_block()
        made = {name: block.create_var(name=name + "_out", dtype=dtype) for name, dtype in outputs.items()}
        block.append_op(type=kind, inputs={k: v for k, v in inputs.items() if v is not None}, outputs=made, attrs=attrs)
        return made


def described(tensor, narrow):
    values = np.array(tensor)
    if not np.prod(tensor.shape()):  # NumPy would see float64
        values = np.zeros(tensor.shape(), fluid.data_feeder.convert_dtype(tensor._dtype()))
    if narrow and values.ndim > 1 and values.shape[-1] == 1:
        values = values[..., 0]
    return ragged(values, *tensor.lod()) if tensor.lod() else dense(values)


def operator(build, narrow=None, batch=False, gradient=True):
    """Build a program, and run it forwards and backwards."""

    def run(arguments, cotangents):
        if batch:
            some_batch(arguments)
        if len(dtypes(*arguments.values()) & {"float32", "float64"}) > 1:
            unable("operands of different dtypes")
        first = next((one for one in arguments.values() if is_tensor(one)), None)
        slim = narrow if narrow is not None else first is not None and first["values"].ndim == 1
        main, net = fluid.Program(), Net()
        with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
            out = build(net, **arguments)
            results = list(out) if isinstance(out, (tuple, list)) else [out]
            found = [None] * len(net.leaves)
            pairs = [(one, given) for one, given in zip(results, cotangents) if given]
            if gradient and pairs and net.leaves:
                weights = []
                for one, given in pairs:
                    values = given["values"].astype(paddle_dtype(one))
                    values = values[..., None] if len(one.shape) == values.ndim + 1 else values
                    weights.append(net.feed(values, given.get("lod", ())))
                found = fluid.gradients([one for one, _ in pairs], list(net.leaves.values()), weights)
            executor = fluid.Executor(PLACE)
            fetches = results + [one for one in found if one is not None]
            got = executor.run(main, feed=net.feeds, fetch_list=fetches, return_numpy=False)
        made = iter(got[len(results) :])
        gradients = {key: None if one is None else np.array(next(made)) for key, one in zip(net.leaves, found)}

        def gradient_of(thing):
            if isinstance(thing, list):
                return [gradient_of(one) for one in thing]
            if id(thing) not in gradients:
                return None
            values = gradients[id(thing)]
            values = np.zeros_like(thing["values"]) if values is None else values
            same = values.size == thing["values"].size
            return dict(thing, values=values.reshape(thing["values"].shape) if same else values)

        return (
            [described(one, slim) for one in got[: len(results)]],
            {name: gradient_of(one) for name, one in arguments.items()} if gradient else NotImplemented,
        )

    return run


def paddle_dtype(variable):
    return fluid.data_feeder.convert_dtype(variable.dtype)


def kept(net, copy, thing):
    """Let the gradient of a reshaped argument be that of the argument."""
    if id(copy) in net.leaves:
        net.leaves = {id(thing) if key == id(copy) else key: one for key, one in net.leaves.items()}
