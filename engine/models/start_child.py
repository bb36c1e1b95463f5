"""Run as a file, by Python: a child's module, without `engine/__init__.py`, which imports much that no child needs."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec

if __name__ == "__main__":
    spec = find_spec("engine")
    assert spec is not None
    sys.modules["engine"] = module_from_spec(spec)
    sys.exit(import_module(sys.argv[1]).run(*sys.argv[2:]))
