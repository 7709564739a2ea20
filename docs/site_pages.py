"""Brings the pages that live outside docs/ into the site: README, benchmarks, changelog, contributing.

Links between them are turned towards their places in the site; links to code become plain text, because the site has
no code in it.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_ROOT = Path(__file__).resolve().parent.parent
_OUTSIDE = {
    "README.md": "index.md",
    "benchmarks/README.md": "benchmarks.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]*)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside."""
    for source, page in _OUTSIDE.items():
        files.append(File.generated(config, page, content=(_ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn every link towards the site."""
    places = {page: source for source, page in _OUTSIDE.items()}
    source = places.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def turned(match: re.Match[str]) -> str:
        picture, text, target, anchor = match.groups()
        if not target or "://" in target:
            return match.group()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        inside = _OUTSIDE.get(path, path.removeprefix("docs/") if path.startswith("docs/") else None)
        return text if inside is None else f"{picture}[{text}]({inside}{anchor or ''})"

    return _LINK.sub(turned, markdown)
