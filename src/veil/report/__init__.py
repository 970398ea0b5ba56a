"""Tables, figures and the HTML report: everything is drawn from releases and public numbers."""
