"""What a document of OTLP 1.x must look like in JSON, as its published definition has it.

The table below was written from the messages of opentelemetry-proto and the rules of OTLP/HTTP for
JSON: names in lowerCamelCase, ids as hexadecimal digits, numbers of 64 bits as strings, enumerations
as numbers. It is stricter than a collector may be: a field that is not in the table is an error.
"""

import re

TRACE_REQUEST = "ExportTraceServiceRequest"
METRICS_REQUEST = "ExportMetricsServiceRequest"

# A message and its fields. A list is a repeated field.
MESSAGES = {
    TRACE_REQUEST: {"resourceSpans": ["ResourceSpans"]},
    METRICS_REQUEST: {"resourceMetrics": ["ResourceMetrics"]},
    "ResourceSpans": {
        "resource": "Resource",
        "scopeSpans": ["ScopeSpans"],
        "schemaUrl": "string",
    },
    "ScopeSpans": {"scope": "InstrumentationScope", "spans": ["Span"], "schemaUrl": "string"},
    "ResourceMetrics": {
        "resource": "Resource",
        "scopeMetrics": ["ScopeMetrics"],
        "schemaUrl": "string",
    },
    "ScopeMetrics": {"scope": "InstrumentationScope", "metrics": ["Metric"], "schemaUrl": "string"},
    "Resource": {"attributes": ["KeyValue"], "droppedAttributesCount": "uint32"},
    "InstrumentationScope": {
        "name": "string",
        "version": "string",
        "attributes": ["KeyValue"],
        "droppedAttributesCount": "uint32",
    },
    "KeyValue": {"key": "string", "value": "AnyValue"},
    "AnyValue": {
        "stringValue": "string",
        "boolValue": "bool",
        "intValue": "int64",
        "doubleValue": "double",
        "arrayValue": "ArrayValue",
        "kvlistValue": "KeyValueList",
        "bytesValue": "bytes",
    },
    "ArrayValue": {"values": ["AnyValue"]},
    "KeyValueList": {"values": ["KeyValue"]},
    "Span": {
        "traceId": "trace id",
        "spanId": "span id",
        "traceState": "string",
        "parentSpanId": "span id",
        "flags": "uint32",
        "name": "string",
        "kind": "span kind",
        "startTimeUnixNano": "uint64",
        "endTimeUnixNano": "uint64",
        "attributes": ["KeyValue"],
        "droppedAttributesCount": "uint32",
        "events": ["Event"],
        "droppedEventsCount": "uint32",
        "links": ["Link"],
        "droppedLinksCount": "uint32",
        "status": "Status",
    },
    "Event": {
        "timeUnixNano": "uint64",
        "name": "string",
        "attributes": ["KeyValue"],
        "droppedAttributesCount": "uint32",
    },
    "Link": {
        "traceId": "trace id",
        "spanId": "span id",
        "traceState": "string",
        "attributes": ["KeyValue"],
        "droppedAttributesCount": "uint32",
        "flags": "uint32",
    },
    "Status": {"message": "string", "code": "status code"},
    "Metric": {
        "name": "string",
        "description": "string",
        "unit": "string",
        "gauge": "Gauge",
        "sum": "Sum",
        "histogram": "Histogram",
        "exponentialHistogram": "ExponentialHistogram",
        "summary": "Summary",
        "metadata": ["KeyValue"],
    },
    "Gauge": {"dataPoints": ["NumberDataPoint"]},
    "Sum": {
        "dataPoints": ["NumberDataPoint"],
        "aggregationTemporality": "temporality",
        "isMonotonic": "bool",
    },
    "Histogram": {"dataPoints": ["HistogramDataPoint"], "aggregationTemporality": "temporality"},
    "NumberDataPoint": {
        "attributes": ["KeyValue"],
        "startTimeUnixNano": "uint64",
        "timeUnixNano": "uint64",
        "asDouble": "double",
        "asInt": "int64",
        "exemplars": ["Exemplar"],
        "flags": "uint32",
    },
    "HistogramDataPoint": {
        "attributes": ["KeyValue"],
        "startTimeUnixNano": "uint64",
        "timeUnixNano": "uint64",
        "count": "uint64",
        "sum": "double",
        "bucketCounts": ["uint64"],
        "explicitBounds": ["double"],
        "exemplars": ["Exemplar"],
        "flags": "uint32",
        "min": "double",
        "max": "double",
    },
    "Exemplar": {
        "filteredAttributes": ["KeyValue"],
        "timeUnixNano": "uint64",
        "asDouble": "double",
        "asInt": "int64",
        "spanId": "span id",
        "traceId": "trace id",
    },
}

# Fields of which exactly one must be there.
ONE_OF = {
    "AnyValue": list(MESSAGES["AnyValue"]),
    "Metric": ["gauge", "sum", "histogram", "exponentialHistogram", "summary"],
    "NumberDataPoint": ["asDouble", "asInt"],
}

# Fields without which a message means nothing.
REQUIRED = {
    TRACE_REQUEST: ["resourceSpans"],
    METRICS_REQUEST: ["resourceMetrics"],
    "ResourceSpans": ["resource", "scopeSpans"],
    "ResourceMetrics": ["resource", "scopeMetrics"],
    "ScopeSpans": ["scope", "spans"],
    "ScopeMetrics": ["scope", "metrics"],
    "InstrumentationScope": ["name"],
    "KeyValue": ["key", "value"],
    "Span": ["traceId", "spanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano"],
    "Metric": ["name", "unit"],
    "Sum": ["dataPoints", "aggregationTemporality", "isMonotonic"],
    "Gauge": ["dataPoints"],
    "Histogram": ["dataPoints", "aggregationTemporality"],
    "NumberDataPoint": ["timeUnixNano"],
    "HistogramDataPoint": ["timeUnixNano", "count", "bucketCounts", "explicitBounds"],
}


class Refused(Exception):
    """A document is not what it should be."""


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_text_of(value, pattern):
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def is_id(value, digits):
    return is_text_of(value, f"[0-9a-f]{{{digits}}}") and int(value, 16) != 0


def is_whole(value, least, most):
    """A number of 64 bits, which JSON has as a string."""
    return is_text_of(value, r"0|-?[1-9][0-9]*") and least <= int(value) <= most


def is_enum(value, numbers):
    return isinstance(value, int) and not isinstance(value, bool) and value in numbers


SCALARS = {
    "string": lambda v: isinstance(v, str),
    "bool": lambda v: isinstance(v, bool),
    "bytes": lambda v: is_text_of(v, r"[A-Za-z0-9+/]*={0,2}"),
    "double": lambda v: is_number(v) or v in ("NaN", "Infinity", "-Infinity"),
    "uint32": lambda v: isinstance(v, int) and not isinstance(v, bool) and 0 <= v < 2**32,
    "uint64": lambda v: is_whole(v, 0, 2**64 - 1),
    "int64": lambda v: is_whole(v, -(2**63), 2**63 - 1),
    "trace id": lambda v: is_id(v, 32),
    "span id": lambda v: is_id(v, 16),
    "span kind": lambda v: is_enum(v, range(1, 6)),
    "status code": lambda v: is_enum(v, range(0, 3)),
    "temporality": lambda v: is_enum(v, (1, 2)),
}


def check_value(where, kind, value):
    if isinstance(kind, list):
        if not isinstance(value, list):
            raise Refused(f"{where}: must be a list")
        for index, element in enumerate(value):
            check_value(f"{where}[{index}]", kind[0], element)
    elif kind in SCALARS:
        if not SCALARS[kind](value):
            raise Refused(f"{where}: {value!r} is no {kind}")
    elif kind in MESSAGES:
        check_message(where, kind, value)
    else:
        raise Refused(f"{where}: {kind} is nothing that Weft sends")


def check_message(where, name, value):
    if not isinstance(value, dict):
        raise Refused(f"{where}: must be an object, a {name}")
    for field, content in value.items():
        if field not in MESSAGES[name]:
            raise Refused(f"{where}: {name} has no field {field}")
        check_value(f"{where}.{field}", MESSAGES[name][field], content)
    for field in REQUIRED.get(name, []):
        if field not in value:
            raise Refused(f"{where}: {name} needs the field {field}")
    if name in ONE_OF:
        present = [field for field in ONE_OF[name] if field in value]
        if len(present) != 1:
            raise Refused(f"{where}: {name} must have one of {ONE_OF[name]}, has {present}")


def check_structure(request, document):
    """Raises Refused for the first thing that is wrong."""
    check_message(request, request, document)
