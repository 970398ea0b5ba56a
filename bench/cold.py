"""Cold starts: `import veil` against `import numpy`, and one release through the command line."""

from __future__ import annotations

import sys

from bench.clock import least_cpu_seconds
from veil import samples


def run() -> None:
    """Print CPU seconds on top of the interpreter's own."""
    python = sys.executable
    bare = least_cpu_seconds([python, "-c", "pass"])
    numpy = least_cpu_seconds([python, "-c", "import numpy"])
    veil = least_cpu_seconds([python, "-c", "import veil"])
    both = least_cpu_seconds([python, "-c", "import numpy, veil"])
    print(f"interpreter {bare:.3f} s, + numpy {numpy - bare:.3f} s, + veil {veil - bare:.3f} s")
    print(f"import veil on top of numpy: {both - numpy:.3f} s (goal: under 0.3 s)")
    release = [python, "-m", "veil", "release", "vector", str(samples.path("grades.csv"))]
    release += ["--records", "98", "--epsilon", "1", "--delta", "1e-6"]
    used = least_cpu_seconds(release)
    print(f"veil release vector: {used - bare:.3f} s of CPU on top of the interpreter (goal: under 1 s)")
