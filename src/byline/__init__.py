"""Byline estimates who wrote a text: author verification, attribution and clustering.

The public names are listed in `__init__.pyi` and loaded on first use, so that `import byline` is quick.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
