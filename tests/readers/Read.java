// Reads Parquet and Avro files with Java's own readers, which Hive, Flink and
// MapReduce use, and prints what read.py prints: see there.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.example.GroupReadSupport;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.Type;

public class Read {
    interface Records {
        void each(Object record) throws Exception;
    }

    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // libraries print as they like
        JsonNode jobs = JSON.readTree(System.in);
        for (int n = 0; n < jobs.size(); n++) {
            for (JsonNode file : jobs.get(n).get("files")) {
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("job", n);
                line.put("file", file.asText());
                try {
                    read(jobs.get(n).get("format").asText(), file.asText(), record -> {
                        line.put("record", record);
                        out.println(JSON.writeValueAsString(line));
                    });
                } catch (Exception e) {
                    line.remove("record");
                    line.put("error", e.toString());
                    out.println(JSON.writeValueAsString(line));
                }
            }
        }
        out.flush();
    }

    private static void read(String format, String file, Records records) throws Exception {
        if (format.equals("avro")) {
            try (DataFileReader<GenericRecord> r = new DataFileReader<>(new File(file), new GenericDatumReader<>())) {
                for (GenericRecord record : r) {
                    records.each(avro(r.getSchema(), record));
                }
            }
            return;
        }
        try (ParquetReader<Group> r = ParquetReader.builder(new GroupReadSupport(), new Path("file://" + file)).build()) {
            for (Group g = r.read(); g != null; g = r.read()) {
                records.each(group(g));
            }
        }
    }

    // What values of either format become.

    private static Object tagged(String tag, Object v) {
        return Map.of(tag, v.toString());
    }

    private static Object text(String s) throws Exception {
        byte[] raw = s.getBytes(StandardCharsets.UTF_8);
        if (raw.length <= 1000) {
            return s;
        }
        byte[] sum = MessageDigest.getInstance("SHA-256").digest(raw);
        return Map.of("long", raw.length, "sha256", HexFormat.of().formatHex(sum));
    }

    private static Object bytes(byte[] b) {
        return tagged("bytes", Base64.getEncoder().encodeToString(b));
    }

    private static Object decimal(byte[] unscaled, int scale) {
        return tagged("decimal", new BigDecimal(new BigInteger(unscaled), scale).toPlainString());
    }

    // Parquet

    private static Object group(Group g) throws Exception {
        Map<String, Object> fields = new LinkedHashMap<>();
        GroupType type = g.getType();
        for (int i = 0; i < type.getFieldCount(); i++) {
            if (g.getFieldRepetitionCount(i) > 0) {
                fields.put(type.getFieldName(i), value(g, i));
            }
        }
        return Map.of("fields", fields);
    }

    private static Object value(Group g, int i) throws Exception {
        Type type = g.getType().getType(i);
        LogicalTypeAnnotation as = type.getLogicalTypeAnnotation();
        if (type.isPrimitive()) {
            return scalar(g, i, as);
        }
        Group inner = g.getGroup(i, 0);
        if (as instanceof LogicalTypeAnnotation.ListLogicalTypeAnnotation) {
            List<Object> list = new ArrayList<>();
            for (int k = 0; k < inner.getFieldRepetitionCount(0); k++) {
                Group item = inner.getGroup(0, k);
                list.add(item.getFieldRepetitionCount(0) == 0 ? null : value(item, 0));
            }
            return list;
        }
        if (as instanceof LogicalTypeAnnotation.MapLogicalTypeAnnotation) {
            Map<String, Object> fields = new LinkedHashMap<>();
            for (int k = 0; k < inner.getFieldRepetitionCount(0); k++) {
                Group pair = inner.getGroup(0, k);
                if (pair.getFieldRepetitionCount(1) > 0) {
                    fields.put(pair.getString(0, 0), value(pair, 1));
                }
            }
            return Map.of("fields", fields);
        }
        return group(inner);
    }

    private static Object scalar(Group g, int i, LogicalTypeAnnotation as) throws Exception {
        switch (g.getType().getType(i).asPrimitiveType().getPrimitiveTypeName()) {
            case BOOLEAN:
                return g.getBoolean(i, 0);
            case INT32:
                return number(g.getInteger(i, 0), as);
            case INT64:
                return number(g.getLong(i, 0), as);
            case FLOAT:
                return tagged("float", (double) g.getFloat(i, 0));
            case DOUBLE:
                return tagged("float", g.getDouble(i, 0));
            default:
                byte[] b = g.getBinary(i, 0).getBytes();
                if (as instanceof LogicalTypeAnnotation.StringLogicalTypeAnnotation) {
                    return text(new String(b, StandardCharsets.UTF_8));
                }
                if (as instanceof DecimalLogicalTypeAnnotation d) {
                    return decimal(b, d.getScale());
                }
                return bytes(b);
        }
    }

    private static Object number(long n, LogicalTypeAnnotation as) {
        if (as instanceof LogicalTypeAnnotation.DateLogicalTypeAnnotation) {
            return tagged("days", n);
        }
        if (as instanceof TimeLogicalTypeAnnotation t) {
            return tagged("time", micros(n, t.getUnit()));
        }
        if (as instanceof TimestampLogicalTypeAnnotation t) {
            return tagged(t.isAdjustedToUTC() ? "micros" : "local", micros(n, t.getUnit()));
        }
        return tagged("int", n);
    }

    private static long micros(long n, TimeUnit unit) {
        return unit == TimeUnit.MILLIS ? n * 1000 : n;
    }

    // Avro

    private static Object avro(Schema s, Object v) throws Exception {
        if (v == null) {
            return null;
        }
        LogicalType as = s.getLogicalType();
        switch (s.getType()) {
            case UNION:
                return avro(s.getTypes().get(GenericData.get().resolveUnion(s, v)), v);
            case RECORD:
                Map<String, Object> fields = new LinkedHashMap<>();
                for (Schema.Field f : s.getFields()) {
                    Object x = avro(f.schema(), ((GenericRecord) v).get(f.pos()));
                    if (x != null) {
                        fields.put(f.name(), x);
                    }
                }
                return Map.of("fields", fields);
            case ARRAY:
                List<Object> list = new ArrayList<>();
                for (Object x : (List<?>) v) {
                    list.add(avro(s.getElementType(), x));
                }
                return list;
            case MAP:
                Map<String, Object> pairs = new LinkedHashMap<>();
                for (Map.Entry<?, ?> e : ((Map<?, ?>) v).entrySet()) {
                    Object x = avro(s.getValueType(), e.getValue());
                    if (x != null) {
                        pairs.put(e.getKey().toString(), x);
                    }
                }
                return Map.of("fields", pairs);
            case STRING:
            case ENUM:
                return text(v.toString());
            case BOOLEAN:
                return v;
            case FLOAT:
            case DOUBLE:
                return tagged("float", ((Number) v).doubleValue());
            case INT:
            case LONG:
                return avroNumber(((Number) v).longValue(), as);
            default:
                return avroBytes(v, as);
        }
    }

    private static Object avroNumber(long n, LogicalType as) {
        if (as instanceof LogicalTypes.Date) {
            return tagged("days", n);
        }
        if (as instanceof LogicalTypes.TimeMillis) {
            return tagged("time", n * 1000);
        }
        if (as instanceof LogicalTypes.TimeMicros) {
            return tagged("time", n);
        }
        if (as instanceof LogicalTypes.TimestampMillis) {
            return tagged("micros", n * 1000);
        }
        if (as instanceof LogicalTypes.TimestampMicros) {
            return tagged("micros", n);
        }
        if (as instanceof LogicalTypes.LocalTimestampMillis) {
            return tagged("local", n * 1000);
        }
        if (as instanceof LogicalTypes.LocalTimestampMicros) {
            return tagged("local", n);
        }
        return tagged("int", n);
    }

    private static Object avroBytes(Object v, LogicalType as) {
        byte[] b;
        if (v instanceof GenericFixed f) {
            b = f.bytes();
        } else {
            ByteBuffer buffer = ((ByteBuffer) v).duplicate();
            b = new byte[buffer.remaining()];
            buffer.get(b);
        }
        if (as instanceof LogicalTypes.Decimal d) {
            return decimal(b, d.getScale());
        }
        return bytes(b);
    }
}
