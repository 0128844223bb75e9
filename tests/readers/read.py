"""Reads files with readers that no one here wrote, and prints what they say.

Standard input is a JSON array of jobs, {"format": ..., "files": [...],
"options": {...}}; the one argument is the reader. Standard output is a line of
JSON for each record, {"job": n, "file": path, "record": value}, in the file's
order, or {"job": n, "file": path, "error": text}. With the option "schema" a line
{"job": n, "file": path, "schema": text} comes before, the schema that
docs/schemas.md says is in the file.

Values keep their types and are exact:

    null, true, "text"      as they are; text of more than 1000 bytes is
                            {"long": bytes, "sha256": hex}, unless the
                            option "whole" is set
    integer                 {"int": "123"}
    float                   {"float": "1.5"}, also NaN, Infinity, -Infinity
    bytes                   {"bytes": base64}
    timestamp               {"micros": "..."} since 1970, UTC
    local timestamp         {"local": "..."} likewise, without a zone; Spark's
                            are all without one in Python, and are "micros"
    date                    {"days": "..."}
    time of day             {"time": "..."} microseconds since midnight
    decimal                 {"decimal": "1.20"}
    list                    [...]
    record, map             {"fields": {...}}, without those that are null,
                            since a column can't tell missing from null
"""

import base64
import datetime
import decimal
import hashlib
import json
import math
import os
import sys
import uuid

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
SPARK = sys.argv[1] == "spark"


def canonical(v, whole=False):
    if v is None or isinstance(v, bool):
        return v
    if isinstance(v, str):
        raw = v.encode("utf-8", "surrogatepass")
        if len(raw) > 1000 and not whole:
            return {"long": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
        return v
    if isinstance(v, int):
        return {"int": str(v)}
    if isinstance(v, float):
        if math.isnan(v):
            return {"float": "NaN"}
        if math.isinf(v):
            return {"float": "Infinity" if v > 0 else "-Infinity"}
        return {"float": repr(v)}
    if isinstance(v, (bytes, bytearray, memoryview)):
        return {"bytes": base64.b64encode(bytes(v)).decode()}
    if isinstance(v, datetime.datetime):
        tag = "micros"
        if v.tzinfo is None:
            tag = "micros" if SPARK else "local"
            v = v.replace(tzinfo=datetime.timezone.utc)
        return {tag: str((v - EPOCH) // datetime.timedelta(microseconds=1))}
    if isinstance(v, datetime.date):
        return {"days": str((v - EPOCH.date()).days)}
    if isinstance(v, datetime.time):
        return {"time": str(((v.hour * 60 + v.minute) * 60 + v.second) * 1000000 + v.microsecond)}
    if isinstance(v, decimal.Decimal):
        return {"decimal": str(v)}
    if isinstance(v, uuid.UUID):
        return str(v)
    if hasattr(v, "toPython"):  # Spark's VariantVal
        v = v.toPython()
        return canonical(v, whole)
    if hasattr(v, "asDict"):  # Spark's Row
        v = dict(zip(v.__fields__, v))
    if isinstance(v, dict):
        return {"fields": {str(k): canonical(x, whole) for k, x in v.items() if x is not None}}
    if isinstance(v, (list, tuple)):
        return [canonical(x, whole) for x in v]
    raise TypeError(f"{type(v)} has no canonical form")


class PyArrow:
    name = "pyarrow"

    def read(self, format, file, options):
        table = getattr(self, format)(file, options)
        for batch in table.to_batches(max_chunksize=1000):
            # Maps are dicts, not lists of pairs.
            yield from batch.to_pylist(maps_as_pydicts="strict")

    def json(self, file, options):
        import pyarrow.json

        block = pyarrow.json.ReadOptions(block_size=64 << 20)
        return pyarrow.json.read_json(file, read_options=block)

    def csv(self, file, options):
        import pyarrow
        import pyarrow.csv as csv

        names = options["columns"]
        return csv.read_csv(
            file,
            read_options=csv.ReadOptions(column_names=names, skip_rows=1 if options.get("header") else 0, block_size=64 << 20),
            parse_options=csv.ParseOptions(delimiter=options.get("delimiter", ","), newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types={n: pyarrow.string() for n in names},
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def parquet(self, file, options):
        import pyarrow.parquet

        return pyarrow.parquet.ParquetFile(file).read()

    def schema(self, file):
        import pyarrow.parquet

        return pyarrow.parquet.read_metadata(file).metadata[b"out_hdfs.schema"].decode()


class DuckDB:
    name = "duckdb"

    def __init__(self):
        import duckdb

        self.connection = duckdb.connect(":memory:")
        self.connection.execute("SET TimeZone = 'UTC'; SET threads = 1; SET preserve_insertion_order = true")

    def read(self, format, file, options):
        source = {
            "json": "read_json($file, format='newline_delimited', maximum_object_size=67108864, sample_size=-1, union_by_name=true)",
            "parquet": "read_parquet($file)",
            "csv": "read_csv($file, all_varchar=true, quote='\"', escape='\"', nullstr='', allow_quoted_nulls=false, "
            "strict_mode=true, max_line_size=67108864, header=$header, delim=$delimiter, names=$columns)",
        }[format]
        values = {"file": file}
        if format == "csv":
            values["header"] = bool(options.get("header"))
            values["delimiter"] = options.get("delimiter", ",")
            values["columns"] = options["columns"]
        cursor = self.connection.execute("SELECT * FROM " + source, values)
        names = [d[0] for d in cursor.description]
        while batch := cursor.fetchmany(1000):
            for row in batch:
                yield dict(zip(names, row))


class FastAvro:
    name = "fastavro"

    def read(self, format, file, options):
        import fastavro

        with open(file, "rb") as f:
            yield from fastavro.reader(f)

    def schema(self, file):
        import fastavro

        with open(file, "rb") as f:
            return fastavro.reader(f).metadata["avro.schema"]


class Spark:
    name = "spark"

    def __init__(self):
        from pyspark.sql import SparkSession

        b = SparkSession.builder.master("local[1]").appName("readers")
        for key, value in {
            "spark.ui.enabled": "false",
            "spark.sql.session.timeZone": "UTC",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "1g",
            # It starts quickly, and doesn't live long enough for more.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.sql.files.maxPartitionBytes": "256m",
            # Two splits a file at the least, so that reading begins in the middle too.
            "spark.hadoop.mapreduce.input.fileinputformat.split.maxsize": "262144",
            "spark.sql.warehouse.dir": os.path.join(os.environ["READERS_TMP"], "warehouse"),
            "spark.local.dir": os.environ["READERS_TMP"],
            "spark.jars": os.environ["READERS_JARS"],
            "spark.log.level": "ERROR",
        }.items():
            b = b.config(key, value)
        self.session = b.getOrCreate()

    def read(self, format, file, options):
        r = self.session.read
        if format == "sequencefile":
            for key, value in self.session.sparkContext.sequenceFile(file, minSplits=4).collect():
                yield {"key": key, "value": value}
            return
        if format == "json":
            frame = r.json(file)
        elif format == "text":
            frame = r.text(file)
        elif format == "csv":
            schema = ", ".join(f"`{c}` string" for c in options["columns"])
            frame = r.csv(
                file, schema=schema, header=options.get("header", False), sep=options.get("delimiter", ","),
                multiLine=True, quote='"', escape='"',
                # With the default nullValue "" an empty text is null to Spark.
                nullValue="\0", emptyValue="",
                ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False, lineSep=options.get("line_ending"),
                maxCharsPerColumn=-1,
            )
        else:
            vectorized = options.get("vectorized", True)
            self.session.conf.set("spark.sql.parquet.enableVectorizedReader", str(vectorized).lower())
            frame = r.format(format).load(file)
        yield from frame.collect()


READERS = [PyArrow, DuckDB, FastAvro, Spark]


def main():
    reader = {r.name: r for r in READERS}[sys.argv[1]]()
    jobs = json.load(sys.stdin)
    # Libraries print to standard output as they like: it is theirs from here on.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for n, job in enumerate(jobs):
        for file in job["files"]:
            options = job.get("options") or {}
            line = {"job": n, "file": file}
            try:
                if options.get("schema"):
                    emit(out, {**line, "schema": reader.schema(file)})
                for record in reader.read(job["format"], file, options):
                    emit(out, {**line, "record": canonical(record, options.get("whole", False))})
            except Exception as e:
                emit(out, {**line, "error": f"{type(e).__name__}: {e}"[:2000]})
    out.close()


def emit(out, line):
    out.write(json.dumps(line, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
