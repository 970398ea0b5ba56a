"""The five papers that Veil implements, as they are cited in code, pages and documentation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reference:
    """A paper as it is cited.

    name: on the command line and in the names of files. topic: what the paper is called by in running text,
    as in "the XOR paper". venue: where it was published. link: a DOI, an arXiv page or a public archive.
    """

    name: str
    topic: str
    title: str
    authors: tuple[str, ...]
    year: int
    venue: str
    link: str

    @property
    def short(self) -> str:
        """The name in running text: "XOR paper"."""
        return f"{self.topic} paper"

    @property
    def heading(self) -> str:
        """The short name at the start of a line: "Matrix Dirichlet paper"."""
        return self.short[0].upper() + self.short[1:]

    @property
    def key(self) -> str:
        """The key of a citation: "Ji et al. 2021 (XOR)"."""
        return f"{self.authors[0].split()[-1]} et al. {self.year} ({self.topic})"

    def cite(self, item: str) -> str:
        """An item of the paper in a sentence: "XOR paper, Figure 3"."""
        return f"{self.short}, {item}"


DIRICHLET_SIMPLEX = Reference(
    "dirichlet-simplex",
    "Dirichlet simplex",
    "Differential privacy on the unit simplex via the Dirichlet mechanism",
    ("P. Gohari", "B. Wu", "C. Hawkins", "M. Hale", "U. Topcu"),
    2021,
    "IEEE Transactions on Information Forensics and Security 16, 2326–2340",
    "https://doi.org/10.1109/TIFS.2021.3052356",
)
MATRIX_DIRICHLET = Reference(
    "matrix-dirichlet",
    "matrix Dirichlet",
    "Differential privacy for stochastic matrices using the matrix Dirichlet mechanism",
    ("B. Fallin", "C. Hawkins", "B. Chen", "P. Gohari", "A. Benvenuti", "U. Topcu", "M. Hale"),
    2023,
    "62nd IEEE Conference on Decision and Control, 5067–5072; cited from the technical report",
    "https://par.nsf.gov/biblio/10494457",
)
DATA_DRIVEN_CHAINS = Reference(
    "data-driven-chains",
    "data-driven chains",
    "Differentially private data-driven Markov chain modeling",
    ("A. Benvenuti", "B. Fallin", "C. Hawkins", "B. Bialy", "M. Dennis", "W. Dixon", "M. Hale"),
    2026,
    "arXiv:2602.22443",
    "https://arxiv.org/abs/2602.22443",
)
SYMBOLIC_TRAJECTORIES = Reference(
    "symbolic-trajectories",
    "symbolic trajectories",
    "Differential privacy for symbolic trajectories via the permute-and-flip mechanism",
    ("A. Benvenuti", "H. Rao", "M. Hale"),
    2026,
    "arXiv:2603.28903",
    "https://arxiv.org/abs/2603.28903",
)
XOR = Reference(
    "xor",
    "XOR",
    "Differentially private binary- and matrix-valued data query: an XOR mechanism",
    ("T. Ji", "P. Li", "E. Yilmaz", "E. Ayday", "Y. Ye", "J. Sun"),
    2021,
    "Proceedings of the VLDB Endowment 14(5), 849–862",
    "https://doi.org/10.14778/3446095.3446106",
)
REFERENCES = (DIRICHLET_SIMPLEX, MATRIX_DIRICHLET, DATA_DRIVEN_CHAINS, SYMBOLIC_TRAJECTORIES, XOR)


def reference(name: str) -> Reference:
    """The paper of this name, such as "xor"."""
    return next(one for one in REFERENCES if one.name == name)


def references_page() -> str:
    """docs/references.md: the papers with their short names and links."""
    rows = [
        f"| {one.heading} | {one.key}: {one.title}. {', '.join(one.authors)}. {one.venue}. <{one.link}> |"
        for one in REFERENCES
    ]
    return "\n".join([_PAGE, "| short name | paper |", "|---|---|", *rows, _PAGE_END])


_PAGE = """\
# References

Veil implements the mechanisms of five papers. Code, reports and documentation cite them by a short name and the number of the item, as in "XOR paper, Theorem 1". The numbers are those of the versions listed here.
"""  # noqa: E501 - a paragraph of markdown is one line
_PAGE_END = """
`veil papers` reproduces their tables and figures: [The papers, item by item](papers.md). Statements in them that are loose, conditional or false are in the [errata](errata.md). How to check and correct us: [for the authors](for-authors.md).
"""  # noqa: E501

if __name__ == "__main__":
    print(references_page(), end="")
