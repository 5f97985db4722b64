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
        tree = _tree(mapping)
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
        """Tell the recorder, which keeps the sizes of just those branches that were read."""
        if self._facts is not None:
            recorder.note_file(self._path, self._uuid, self._name, **self._facts)


def _tree(mapping: Any) -> Any:
    """Return the tree that coffea put into its mapping to save opening it twice."""
    cache = getattr(mapping, "_cache", None)
    for value in list(cache.values()) if cache is not None else ():
        if hasattr(value, "num_entries") and hasattr(value, "file"):
            return value
    return None


def _tree_facts(tree: Any) -> dict[str, Any]:
    if hasattr(tree, "compressed_bytes"):
        branches = {branch.name: int(branch.compressed_bytes) for branch in tree.branches}
        return {
            "num_branches": len(tree.keys()),
            "compressed_bytes": int(tree.compressed_bytes),
            "uncompressed_bytes": int(tree.uncompressed_bytes),
            "branch_bytes": branches,
        }
    return _ntuple_facts(tree)


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
