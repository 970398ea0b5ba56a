"""What a chain's noisy tables say of the counts behind them."""
