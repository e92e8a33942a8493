#!/usr/bin/env python3
"""A collector of OpenTelemetry that believes nothing.

    receiver.py PROGRAM

Starts PROGRAM with the address of a receiver on this machine, takes what it exports over
OTLP/HTTP in JSON, and checks all of it: that it has the structure of the published protocol
(otlp_protocol.py), that it makes sense, and that every name in it is declared in src/telemetry/schema.
"""

import json
import re
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import yaml

sys.dont_write_bytecode = True  # of the modules beside it

from otlp_protocol import METRICS_REQUEST, TRACE_REQUEST, Refused, check_structure

ROOT = Path(__file__).resolve().parent.parent.parent
HOUR = 3600 * 10**9
CUMULATIVE = 2
INTERNAL = 1
# What the program calls its requests, and their parts.
OWN_SPANS = {"checkout", "price", 'pay "now" \ufffd'}
OWN_LABELS = {"region"}
RESOURCE = {
    "service.name": "shop",
    "telemetry.sdk.name": "weft",
    "telemetry.sdk.language": "cpp",
    "deployment.environment.name": "test",
}
KINDS = {"string": "stringValue", "int": "intValue", "double": "doubleValue", "boolean": "boolValue"}


class Schema:
    """The names that src/telemetry/schema declares."""

    def __init__(self, directory=ROOT / "src/telemetry/schema"):
        self.attributes, self.metrics, self.spans = {}, {}, {}
        for path in sorted(directory.glob("*.yaml")):
            for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]:
                if group["type"] == "attribute_group":
                    self.attributes |= {a["id"]: a["type"] for a in group["attributes"]}
                elif group["type"] == "metric":
                    self.metrics[group["metric_name"]] = group
                elif group["type"] == "span":
                    self.spans[group["id"].removeprefix("span.")] = group

    def check_attribute(self, where, name, value):
        if name not in self.attributes:
            raise Refused(f"{where}: nothing declares the attribute {name}")
        kind = self.attributes[name]
        if isinstance(kind, dict):
            members = [member["value"] for member in kind["members"]]
            if value.get("stringValue") not in members:
                raise Refused(f"{where}: {name} must be one of {members}, is {value}")
        elif KINDS[kind] not in value:
            raise Refused(f"{where}: {name} must be of type {kind}, is {value}")

    def check_attributes(self, where, group, values, also=frozenset()):
        declared = {a["ref"]: a.get("requirement_level") for a in group["attributes"]}
        for name, value in values.items():
            if name in also:
                continue
            if name not in declared:
                raise Refused(f"{where}: {name} is not declared for it")
            self.check_attribute(where, name, value)
        for name, level in declared.items():
            if level == "required" and name not in values:
                raise Refused(f"{where}: the attribute {name} is missing")


def attributes_of(where, pairs):
    found = {}
    for pair in pairs:
        if not pair["key"]:
            raise Refused(f"{where}: an attribute without a name")
        if pair["key"] in found:
            raise Refused(f"{where}: the attribute {pair['key']} is there twice")
        found[pair["key"]] = pair["value"]
    return found


def check_time(where, nanoseconds, now):
    if not now - HOUR < int(nanoseconds) < now + HOUR:
        raise Refused(f"{where}: {nanoseconds} is not about now")


def check_source(where, resource, scope):
    attributes = attributes_of(where, resource["attributes"])
    for name, value in RESOURCE.items():
        if attributes.get(name) != {"stringValue": value}:
            raise Refused(f"{where}: the resource must have {name} = {value}")
    version = attributes.get("telemetry.sdk.version", {}).get("stringValue", "")
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise Refused(f"{where}: telemetry.sdk.version is {version!r}")
    if scope != {"name": "weft", "version": version}:
        raise Refused(f"{where}: the scope is {scope}")


class Checker:
    """Remembers what has come, since some rules bind several documents."""

    def __init__(self, schema):
        self.schema = schema
        self.spans = {}  # by id
        self.counters = {}  # value and beginning, by series
        self.kinds = {}  # how the values of a metric are written
        self.points = 0
        self.metrics = set()
        self.values = {}  # of attributes, as they were seen

    def take(self, path, document, now):
        if path == "/v1/traces":
            check_structure(TRACE_REQUEST, document)
            for resource in document["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    check_source("resourceSpans", resource["resource"], scope["scope"])
                    if not scope["spans"]:
                        raise Refused("scopeSpans: nothing is in it")
                    for span in scope["spans"]:
                        self.take_span(span, now)
        elif path == "/v1/metrics":
            check_structure(METRICS_REQUEST, document)
            for resource in document["resourceMetrics"]:
                for scope in resource["scopeMetrics"]:
                    check_source("resourceMetrics", resource["resource"], scope["scope"])
                    names = [metric["name"] for metric in scope["metrics"]]
                    if len(set(names)) != len(names) or not names:
                        raise Refused("scopeMetrics: a metric twice, or none")
                    for metric in scope["metrics"]:
                        self.take_metric(metric, now)
        else:
            raise Refused(f"{path}: nobody is there")

    def take_span(self, span, now):
        where = f"span {span['name']}"
        if span["spanId"] in self.spans:
            raise Refused(f"{where}: the id {span['spanId']} is there twice")
        if span["spanId"] == span.get("parentSpanId"):
            raise Refused(f"{where}: is its own parent")
        if span["kind"] != INTERNAL:
            raise Refused(f"{where}: kind {span['kind']} is not declared")
        check_time(where, span["startTimeUnixNano"], now)
        check_time(where, span["endTimeUnixNano"], now)
        if int(span["startTimeUnixNano"]) > int(span["endTimeUnixNano"]):
            raise Refused(f"{where}: ends before it begins")
        attributes = attributes_of(where, span.get("attributes", []))
        if span["name"] in self.schema.spans:
            self.schema.check_attributes(where, self.schema.spans[span["name"]], attributes)
            for name, value in attributes.items():
                self.values.setdefault(name, set()).add(value.get("stringValue"))
        elif span["name"] not in OWN_SPANS:
            raise Refused(f"{where}: is neither declared nor one of the program")
        elif attributes:
            raise Refused(f"{where}: a request of the program has no attributes")
        self.spans[span["spanId"]] = span

    def take_metric(self, metric, now):
        where = f"metric {metric['name']}"
        declared = self.schema.metrics.get(metric["name"])
        if declared is None:
            raise Refused(f"{where}: nothing declares it")
        if metric["unit"] != declared["unit"]:
            raise Refused(f"{where}: the unit is {metric['unit']}, not {declared['unit']}")
        if metric.get("description") != declared["brief"]:
            raise Refused(f"{where}: the description is not that of the schema")
        kind = next(k for k in ("sum", "gauge", "histogram") if k in metric)
        data = metric[kind]
        monotonic = data.get("isMonotonic")
        instrument = {
            ("sum", True): "counter",
            ("sum", False): "updowncounter",
            ("gauge", None): "gauge",
            ("histogram", None): "histogram",
        }[kind, monotonic]
        if instrument != declared["instrument"]:
            raise Refused(f"{where}: is a {instrument}, not a {declared['instrument']}")
        if kind != "gauge" and data["aggregationTemporality"] != CUMULATIVE:
            raise Refused(f"{where}: is not cumulative")
        if not data["dataPoints"]:
            raise Refused(f"{where}: has no points")
        seen = set()
        for point in data["dataPoints"]:
            series = self.take_point(where, declared, kind, point, now)
            if series in seen:
                raise Refused(f"{where}: {series} is there twice")
            seen.add(series)
        self.metrics.add(metric["name"])

    def take_point(self, where, declared, kind, point, now):
        attributes = attributes_of(where, point["attributes"])
        self.schema.check_attributes(where, declared, attributes, also=OWN_LABELS)
        if attributes.get("region") != {"stringValue": "n\u00f6rdlich"}:
            raise Refused(f"{where}: the label of the program is missing")
        check_time(where, point["timeUnixNano"], now)
        if kind != "gauge":
            if "startTimeUnixNano" not in point:
                raise Refused(f"{where}: a cumulative value needs a beginning")
            check_time(where, point["startTimeUnixNano"], now)
            if int(point["startTimeUnixNano"]) > int(point["timeUnixNano"]):
                raise Refused(f"{where}: begins after it was read")
        series = json.dumps([where, attributes], sort_keys=True)
        if kind == "histogram":
            self.check_histogram(where, point)
            self.check_growth(where, series, point, int(point["count"]))
        else:
            written = "asInt" if "asInt" in point else "asDouble"
            if self.kinds.setdefault(where, written) != written:
                raise Refused(f"{where}: is whole at times, and at others not")
            if declared["instrument"] == "counter":
                value = float(point[written])
                if value < 0:
                    raise Refused(f"{where}: a counter is {value}")
                self.check_growth(where, series, point, value)
        self.points += 1
        return series

    def check_growth(self, where, series, point, value):
        start = point["startTimeUnixNano"]
        before, start_before = self.counters.get(series, (0, start))
        if start == start_before and value < before:
            raise Refused(f"{where}: {series} fell from {before} to {value}")
        self.counters[series] = (value, start)

    @staticmethod
    def check_histogram(where, point):
        bounds = [float(b) for b in point["explicitBounds"]]
        counts = [int(c) for c in point["bucketCounts"]]
        if len(counts) != len(bounds) + 1:
            raise Refused(f"{where}: {len(counts)} buckets for {len(bounds)} bounds")
        if sorted(set(bounds)) != bounds:
            raise Refused(f"{where}: the bounds do not ascend")
        if sum(counts) != int(point["count"]):
            raise Refused(f"{where}: the buckets do not add up to the count")

    def check_parents(self):
        """When all spans have come: a parent is one of them, of the same trace."""
        for span in self.spans.values():
            parent = self.spans.get(span.get("parentSpanId"))
            if "parentSpanId" in span and parent is None:
                raise Refused(f"span {span['name']}: its parent has not come")
            if parent is not None and parent["traceId"] != span["traceId"]:
                raise Refused(f"span {span['name']}: its parent is of another trace")
            if parent is None and span["name"] != "checkout":
                raise Refused(f"span {span['name']}: belongs to no request")


class Receiver:
    """Serves on a port of its own until it is closed."""

    def __init__(self, checker):
        self.checker = checker
        self.problems = []
        self.requests = 0
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = receiver.take(self.path, self.headers, body)
                text = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                if status == 503:
                    self.send_header("Retry-After", "0")
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"

    def take(self, path, headers, body):
        self.requests += 1
        if self.requests == 1:
            return 503, {"message": "not yet"}  # which costs nothing but a second attempt
        try:
            if headers["Content-Type"] != "application/json" or headers["X-Tenant"] != "7":
                raise Refused(f"the headers are {dict(headers)}")
            self.checker.take(path, json.loads(body.decode("utf-8")), time.time_ns())
        except (Refused, ValueError) as error:
            self.problems.append(f"{path}: {error}")
            return 400, {"message": str(error)}
        return 200, {}

    def close(self):
        self.server.shutdown()


def check_all_came(checker, printed):
    """What the program says that it has sent has come, and is not next to nothing."""
    spans, points, requests, failed = map(int, re.findall(r"\d+", printed))
    if (spans, points) != (len(checker.spans), checker.points):
        raise Refused(f"{printed}: but {len(checker.spans)} spans, {checker.points} points came")
    if failed != 1 or requests < 6:
        raise Refused(f"{printed}: one request was to fail, and there are more than six")
    names = {span["name"] for span in checker.spans.values()}
    if names != OWN_SPANS | set(checker.schema.spans):
        raise Refused(f"the names of spans were {names}")
    if checker.values["scheduler.name"] != {"main", "server"}:
        raise Refused(f"spans came from {checker.values['scheduler.name']}")
    if not {"cpu_bound", "io_bound", "blocking"} == checker.values["scheduler.task.type"]:
        raise Refused(f"tasks were {checker.values['scheduler.task.type']}")
    # Whether an executor changes its size in so short a run is its own business.
    missing = set(checker.schema.metrics) - checker.metrics - {"executor.resizes"}
    if missing:
        raise Refused(f"these metrics did not come: {sorted(missing)}")
    checker.check_parents()


def main():
    if len(sys.argv) != 2:
        print("usage: receiver.py PROGRAM", file=sys.stderr)
        return 2
    checker = Checker(Schema())
    receiver = Receiver(checker)
    done = subprocess.run(
        [sys.argv[1], receiver.endpoint], capture_output=True, text=True, timeout=110, check=False
    )
    receiver.close()
    problems = receiver.problems
    if done.returncode != 0:
        problems.append(f"the program ended with {done.returncode}: {done.stderr}")
    else:
        try:
            check_all_came(checker, done.stdout)
        except Refused as error:
            problems.append(str(error))
    print("\n".join(problems[:20]) if problems else f"all is well: {done.stdout.strip()}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
