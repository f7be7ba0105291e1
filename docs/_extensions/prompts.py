"""Fenced blocks of Python that begin with a prompt are sessions, and the site highlights them as such."""

from sphinx.application import Sphinx


def as_sessions(_app: Sphinx, _name: str, source: list[str]) -> None:
    text = source[0].replace("```python\n>>> ", "```pycon\n>>> ")
    source[0] = text.replace("\n\n```", "\n```")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", as_sessions)
    return {"parallel_read_safe": True}
