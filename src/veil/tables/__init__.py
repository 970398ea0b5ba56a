"""Readers of files, frames and databases; the engines that count where the data is."""
