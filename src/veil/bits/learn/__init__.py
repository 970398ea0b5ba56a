"""Learning from private bits with scikit-learn: what trains is a release, what is predicted is not touched.

The names are loaded when they are first used, so that Veil itself does not need scikit-learn.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
