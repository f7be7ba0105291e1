"""The demo that learns to pronounce: from letters to phonemes, with attention and a beam."""

from lodcore.demo.pronounce.commands import pronounce, train

__all__ = ["pronounce", "train"]
