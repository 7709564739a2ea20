"""Where runs, studies and results are kept: a few operations that every kind of store has."""

from scalewise.storage.local import LocalStore, write_result
from scalewise.storage.memory import MemoryStore
from scalewise.storage.store import Claim, Holder, Store, as_folder_error

__all__ = ["Claim", "Holder", "LocalStore", "MemoryStore", "Store", "as_folder_error", "write_result"]
