"""What trains and calibrates the speech channel; commands for maintainers."""
