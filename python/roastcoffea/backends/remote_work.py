"""coffea's work function on its way through Dask.

The scheduler unpickles it once, pickles it again for every task, and need not
have roastcoffea; nor need the workers. So it pickles as bytes that were made
once, from which an empty piece of work is built anywhere, and as what that is
to be filled with. Shipped by value like :mod:`.remote`; comments are not.
"""

from __future__ import annotations

import pickle
import sys
from typing import Any


def roastcoffea_empty_work() -> Any:  # noqa: D103
    # The scheduler must not spend its time on importing what only workers use:
    # the class is defined where this module has not been imported.
    work_class = getattr(sys.modules.get("roastcoffea.backends.remote_work"), "Work", None)
    if work_class is not None:
        return work_class()

    # Records its calls wherever that is possible. Its attributes:
    # `builder`: bytes that build an empty one.
    # `work`: coffea's function.
    # `topic`: of the recorded rows; None if nothing is to be recorded.
    # `packs`: whether the output is pickled in the same thread right after.
    class Work:
        def __call__(self: Any, item: Any) -> Any:
            if self.topic is None:
                return self.work(item)
            try:
                from roastcoffea.backends import remote_work  # noqa: F401
                from roastcoffea.recording import record_attempt
            except Exception:  # noqa: BLE001
                # It is not there, or broken, which is no reason to fail.
                return self.work(item)
            return record_attempt(self.work, item, "dask", self.topic, packs=self.packs)

        def __reduce__(self: Any) -> Any:
            return pickle.loads, (self.builder,), self.__dict__

    return Work()


#: The class, where roastcoffea has been imported.
Work: Any = type(roastcoffea_empty_work())
