// Package readers reads finished files with readers that no one here wrote:
// the command line tools, Hadoop's shell, PyArrow, DuckDB, fastavro and Spark.
//
// A test is a row of a table: a configuration, by which log events go through
// the real sink to files, the readers that must read them, and what they must
// say. Each reader runs once for all rows, since Spark takes seconds to start.
//
// Python's readers are installed by the first test that needs them, into
// build/venv, in the versions that requirements.txt pins. Java 17 must be there
// for Spark and Hadoop.
package readers
