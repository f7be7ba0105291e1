"""Articles of names in messages."""

from __future__ import annotations

__all__ = ["with_article"]


def with_article(name: str) -> str:
    """Return the name of a kind with its article: a LoDTensor, an ndarray, an IndicesMap."""
    return f"{'an' if name.startswith((*'AEIOaeio', 'nd', 'Un')) else 'a'} {name}"
