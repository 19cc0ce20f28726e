"""Races and missing barriers in shared and in global memory."""
