"""What people see of released trips."""
