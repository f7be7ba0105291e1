"""The demo of pronunciation: from letters to phonemes, with attention and beam search."""

from lodcore.demo.pronounce.commands import pronounce, train

__all__ = ["pronounce", "train"]
