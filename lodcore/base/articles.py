"""Articles and numbers of names in messages."""

from __future__ import annotations

__all__ = ["there_are", "with_article", "with_number"]


def with_article(name: str) -> str:
    """Return the name of a kind with its article: a LoDTensor, an ndarray, an IndicesMap."""
    return f"{'an' if name.startswith((*'AEIOaeio', 'nd', 'Un')) else 'a'} {name}"


def with_number(number: int, name: str, form: str = "") -> str:
    """Return a number, in a format, with the name of the counted things: 1 level, 2 levels."""
    return f"{number:{form}} {name}" + ("" if number == 1 else "s")


def there_are(number: int, name: str) -> str:
    """Return that there is 1 level, or that there are 2 levels."""
    return f"there {'is' if number == 1 else 'are'} {with_number(number, name)}"
