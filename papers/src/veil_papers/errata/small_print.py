"""The errata that need no program: slips of the pen."""

from __future__ import annotations

from veil_papers.errata.erratum import Erratum

SMALL_PRINT = (
    Erratum(
        "typo",
        "Small print",
        (
            "dirichlet-simplex Corollary 1",
            "dirichlet-simplex Appendix B",
            "dirichlet-simplex Appendix C",
        ),
        "",
        "- The proof of Corollary 1 takes the least k from Assumption 2, and ends in 2k(1 − η̄) − 3, as the "
        "corollary has it.\n- The last display of Appendix B is the bound on beta(kq_i, kq_j)/beta(kp_i, "
        "kp_j).\n"
        "- In Appendix C the right side is exp(2 − (a + b)), as in Lemma 5.\n\nSome of this may have been "
        "lost on "
        "the way to the text that we read.",
        quote="“from Assumption 1”, “≤ 2k − 3” (the proof of Corollary 1); beta(kp_i, kp_j)/beta(kq_i, kq_j) "
        "(Appendix B); beta(a, b) ≥ exp(∫ …) = 2 − (a + b) (Appendix C)",
    ),
    Erratum(
        "typo",
        "Small print",
        ("matrix-dirichlet Theorem 1", "matrix-dirichlet Equation (10)", "matrix-dirichlet Equation (13)"),
        "",
        "- (10) leaves out the logarithm, which (12) bounds.\n- Before (12), (1 − (|W_i| − 1))γ_i is 1 − "
        "(|W_i| − "
        "1)γ_i.\n- The second point of (13) lacks its b/2: it is (1 − η̄ − η − b/2, 1 − η̄ − η), as in the "
        "Dirichlet simplex paper, (12).",
        quote="ν₁ = max (X_iℓ/X_im)^{k(P_iℓ − Q_iℓ)} (10); X_iℓ ≤ (1 − (|W_i| − 1))γ_i; (1 − η̄ − η, 1 − "
        "η̄ − η) (13)",
    ),
    Erratum(
        "typo",
        "Small print",
        ("symbolic-trajectories Mechanism 1", "symbolic-trajectories Definition 1"),
        "",
        "- Mechanism 1 names A_{w,b} for A_{w,ℓ}.\n- A run has n + 1 states; Definition 1 prints Qⁿ.",
        quote="A_{w,b} (Mechanism 1); q₀⋯q_n ∈ Qⁿ (Definition 1)",
    ),
)
