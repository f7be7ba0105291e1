"""Batching: documents packed into bins of a budget, batches within a budget, windows, and samplers."""

from lodcore.base.naming import make_public as _make_public
from lodcore.batching.attention_inputs import AttentionInputs, attention_inputs, cu_seqlens
from lodcore.batching.batches import BatchPlan, batches, pack_batches
from lodcore.batching.chunks import ChunkPlan, chunk_plan, concat_and_cut
from lodcore.batching.pack_plans import PackPlan
from lodcore.batching.packing import pack_plan
from lodcore.batching.reports.batch_report import BatchReport
from lodcore.batching.reports.isolation import assert_isolated
from lodcore.batching.reports.pack_report import PackReport
from lodcore.batching.reports.pictures import fills, plot_occupancy, show_bins
from lodcore.batching.sampling import SourceSampler, sample_by_temperature
from lodcore.batching.stream import Stream, StreamFill, batch_stream, pack_stream

__all__ = [
    "AttentionInputs",
    "BatchPlan",
    "BatchReport",
    "ChunkPlan",
    "PackPlan",
    "PackReport",
    "SourceSampler",
    "Stream",
    "StreamFill",
    "assert_isolated",
    "attention_inputs",
    "batch_stream",
    "batches",
    "chunk_plan",
    "concat_and_cut",
    "cu_seqlens",
    "fills",
    "pack_batches",
    "pack_plan",
    "pack_stream",
    "plot_occupancy",
    "sample_by_temperature",
    "show_bins",
]


_make_public("lodcore.batching", *[globals()[_name] for _name in __all__])


def __dir__() -> list[str]:
    return __all__
