// Package readers reads finished files with readers that no one here wrote:
// the command line tools, Hadoop's shell, PyArrow, DuckDB, fastavro, Spark, and
// Java's own readers of Parquet and Avro.
//
// A test is a row of a table: a configuration, chunks that go through the
// plugin in a host process (tests/host) to files, the readers that must read
// them, and what they must say. What they must say is what the documents say.
// Each reader runs once for all rows, since Spark takes seconds to start.
//
// Python's readers and what Spark needs beyond them are installed by the first
// test that needs them, into build/venv, in the versions that requirements.txt
// and pom.xml pin. Java 17 must be there for Spark and Hadoop, and Maven.
package readers
