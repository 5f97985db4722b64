"""The size and shape of input files, asked once per file and process."""

from __future__ import annotations

from typing import Any

from roastcoffea import _core
from roastcoffea.identity import uuid_text

_MAX_KNOWN = 1_000

#: Facts by file and tree. A wide tree is dear to ask: once per process is enough.
_known: dict[tuple[str, str], dict[str, Any]] = {}


class FileFacts:
    """What is known of a chunk's file; the recorder is told when the chunk ends."""

    def __init__(self, mapping: Any) -> None:
        tree = self._tree = _tree(mapping)
        self._facts: dict[str, Any] | None = None
        if tree is None:
            return
        self._path, self._name = str(tree.file.file_path), str(tree.name)
        self._uuid = uuid_text(tree.file.fUUID[:16])
        facts = _known.get((self._path, self._name))
        if facts is None:
            if len(_known) >= _MAX_KNOWN:
                _known.clear()
            facts = _known[self._path, self._name] = _tree_facts(tree)
        self._facts = facts

    def tell(self, recorder: _core.ChunkRecorder) -> None:
        """Tell the recorder, with the sizes of just those branches that were read."""
        if self._facts is None:
            return
        known = self._path, self._uuid, self._name
        while lacking := recorder.note_file(*known, **self._facts):
            sizes = {name: _branch_bytes(self._tree, name) for name in lacking}
            self._facts["branch_bytes"].update(sizes)


def _tree(mapping: Any) -> Any:
    """Return the tree that coffea put into its mapping to save opening it twice."""
    cache = getattr(mapping, "_cache", None)
    for value in list(cache.values()) if cache is not None else ():
        if hasattr(value, "num_entries") and hasattr(value, "file"):
            return value
    return None


def _tree_facts(tree: Any) -> dict[str, Any]:
    if not hasattr(tree, "compressed_bytes"):
        return _ntuple_facts(tree)
    return {
        "num_branches": _count(tree.branches),
        "compressed_bytes": int(tree.compressed_bytes),
        "uncompressed_bytes": int(tree.uncompressed_bytes),
        # Asked of a branch when it is first read: most of them never are.
        "branch_bytes": {},
    }


def _count(branches: Any) -> int:
    """Count branches and those below them, which takes uproot's own listing three times as long."""
    return sum(1 + _count(branch.branches) for branch in branches)


def _branch_bytes(tree: Any, name: str) -> int | None:
    try:
        return int(tree[name].compressed_bytes)
    except (KeyError, AttributeError):
        return None  # a column that is no branch of its own


def _ntuple_facts(ntuple: Any) -> dict[str, Any]:
    """Add up an RNTuple's pages, which know their size on disk and their elements."""
    compressed = uncompressed = 0
    branches: dict[str, int] = {}
    columns = ntuple.column_records
    names = [field.field_name for field in ntuple.field_records]
    for cluster in ntuple.page_link_list:
        for column, pages in zip(columns, cluster, strict=False):
            size = sum(page.locator.num_bytes for page in pages.pages)
            elements = sum(abs(page.num_elements) for page in pages.pages)
            compressed += size
            uncompressed += (elements * column.nbits + 7) // 8
            name = names[column.field_id]
            branches[name] = branches.get(name, 0) + size
    return {
        "num_branches": len(ntuple.keys()),
        "compressed_bytes": compressed,
        "uncompressed_bytes": uncompressed,
        "branch_bytes": branches,
    }
