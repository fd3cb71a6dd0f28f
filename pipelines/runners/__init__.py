"""What runs a graph: Apache Beam on any of its runners, or a plain loop. The only folder that imports apache_beam."""
