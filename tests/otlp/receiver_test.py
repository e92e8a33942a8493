#!/usr/bin/env python3
"""The receiver refuses documents that are wrong: a check that cannot fail proves nothing."""

import copy
import json
import sys
import time
import unittest
import urllib.error
import urllib.request

sys.dont_write_bytecode = True  # of the modules beside it

from otlp_protocol import METRICS_REQUEST, TRACE_REQUEST, Refused, check_structure
from receiver import RESOURCE, Checker, Receiver, Schema

SCHEMA = Schema()
NOW = time.time_ns()


def pair(key, value):
    return {"key": key, "value": {"stringValue": value}}


def source():
    resource = [pair(k, v) for k, v in RESOURCE.items()] + [pair("telemetry.sdk.version", "0.1.0")]
    return {"attributes": resource}, {"name": "weft", "version": "0.1.0"}


def span(**changes):
    return {
        "traceId": "0123456789abcdef0123456789abcdef",
        "spanId": "00000000000000aa",
        "parentSpanId": "00000000000000bb",
        "name": "scheduler.task.execute",
        "kind": 1,
        "startTimeUnixNano": str(NOW - 2000),
        "endTimeUnixNano": str(NOW - 1000),
        "attributes": [
            {"key": "scheduler.task.id", "value": {"intValue": "7"}},
            pair("scheduler.task.type", "cpu_bound"),
            {"key": "scheduler.worker.id", "value": {"intValue": "0"}},
            pair("scheduler.name", "main"),
        ],
    } | changes


def request(*changes):
    own = span(name="checkout", spanId="00000000000000bb", attributes=[])
    del own["parentSpanId"]
    resource, scope = source()
    spans = [own, *(changes or [span()])]
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]}


def labels(*others):
    return [pair("scheduler.name", "main"), pair("region", "n\u00f6rdlich"), *others]


def counter(value="5", **changes):
    point = {
        "attributes": labels(),
        "startTimeUnixNano": str(NOW - 2000),
        "timeUnixNano": str(NOW - 1000),
        "asInt": value,
    } | changes
    return {
        "name": "scheduler.tasks.spawned",
        "description": "Tasks spawned or submitted.",
        "unit": "{task}",
        "sum": {"aggregationTemporality": 2, "isMonotonic": True, "dataPoints": [point]},
    }


def histogram(**changes):
    point = {
        "attributes": labels(),
        "startTimeUnixNano": str(NOW - 2000),
        "timeUnixNano": str(NOW - 1000),
        "count": "5",
        "sum": 12.5,
        "bucketCounts": ["4", "0", "1"],
        "explicitBounds": [0.001, 10],
    } | changes
    return {
        "name": "scheduler.task.schedule.latency",
        "description": "Time from ready to running, of probes that were queued like tasks from outside.",
        "unit": "s",
        "histogram": {"aggregationTemporality": 2, "dataPoints": [point]},
    }


def metrics(*changes):
    resource, scope = source()
    content = list(changes or [counter(), histogram()])
    return {
        "resourceMetrics": [
            {"resource": resource, "scopeMetrics": [{"scope": scope, "metrics": content}]}
        ]
    }


def without(message, *path):
    """A copy that lacks what the path leads to."""
    made = copy.deepcopy(message)
    place = made
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return made


def changed(message, *path_and_value):
    *path, value = path_and_value
    made = copy.deepcopy(message)
    place = made
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return made


TRACES = ("/v1/traces", TRACE_REQUEST)
METRICS = ("/v1/metrics", METRICS_REQUEST)
IN_SPANS = ("resourceSpans", 0, "scopeSpans", 0, "spans")
IN_SUM = ("resourceMetrics", 0, "scopeMetrics", 0, "metrics", 0, "sum")

# What is wrong, where it is sent, and the document.
WRONG = [
    ("no object", TRACES, []),
    ("nothing", TRACES, {}),
    ("unknown field", TRACES, {**request(), "more": 1}),
    ("name of protobuf", TRACES, {"resource_spans": request()["resourceSpans"]}),
    ("unknown field of a span", TRACES, request(span(colour="red"))),
    ("list that is none", TRACES, {"resourceSpans": {}}),
    ("short trace id", TRACES, request(span(traceId="0123"))),
    ("upper-case trace id", TRACES, request(span(traceId="0123456789ABCDEF0123456789ABCDEF"))),
    ("trace id in base64", TRACES, request(span(traceId="ASNFZ4mrze8BI0VniavN7w=="))),
    ("trace id of zeros", TRACES, request(span(traceId="0" * 32))),
    ("span id of zeros", TRACES, request(span(spanId="0" * 16))),
    ("parent of zeros", TRACES, request(span(parentSpanId="0" * 16))),
    ("empty parent", TRACES, request(span(parentSpanId=""))),
    ("no span id", TRACES, request(without(span(), "spanId"))),
    ("no name", TRACES, request(without(span(), "name"))),
    ("no kind", TRACES, request(without(span(), "kind"))),
    ("kind as a word", TRACES, request(span(kind="SPAN_KIND_INTERNAL"))),
    ("kind beyond", TRACES, request(span(kind=6))),
    ("kind that is not declared", TRACES, request(span(kind=2))),
    ("time as a number", TRACES, request(span(startTimeUnixNano=NOW))),
    ("time with a point", TRACES, request(span(startTimeUnixNano=f"{NOW}.0"))),
    ("time in microseconds", TRACES, request(span(startTimeUnixNano=str(NOW // 1000)))),
    ("negative time", TRACES, request(span(startTimeUnixNano="-1"))),
    ("end before begin", TRACES, request(span(endTimeUnixNano=str(NOW - 3000)))),
    ("no end", TRACES, request(without(span(), "endTimeUnixNano"))),
    ("an id twice", TRACES, request(span(), span())),
    ("own parent", TRACES, request(span(parentSpanId="00000000000000aa"))),
    ("name that nobody declares", TRACES, request(span(name="scheduler.task.dream"))),
    ("attributes as an object", TRACES, request(span(attributes={"a": "b"}))),
    ("attribute without value", TRACES, request(changed(span(), "attributes", 0, {"key": "a"}))),
    ("attribute of two types", TRACES, request(changed(
        span(), "attributes", 0, "value", {"intValue": "7", "stringValue": "7"}))),
    ("attribute of no type", TRACES, request(changed(span(), "attributes", 0, "value", {}))),
    ("intValue as a number", TRACES, request(changed(
        span(), "attributes", 0, "value", {"intValue": 7}))),
    ("attribute of another type", TRACES, request(changed(
        span(), "attributes", 0, "value", {"stringValue": "7"}))),
    ("attribute that nobody declares", TRACES, request(span(
        attributes=span()["attributes"] + [pair("scheduler.mood", "good")]))),
    ("attribute of others", TRACES, request(span(
        attributes=span()["attributes"] + [pair("policy.name", "jobs")]))),
    ("attribute twice", TRACES, request(span(attributes=span()["attributes"] * 2))),
    ("attribute that is missing", TRACES, request(without(span(), "attributes", 0))),
    ("value that nobody declares", TRACES, request(changed(
        span(), "attributes", 1, "value", {"stringValue": "sleepy"}))),
    ("no spans", TRACES, changed(request(), *IN_SPANS, [])),
    ("no resource", TRACES, without(request(), "resourceSpans", 0, "resource")),
    ("no scope", TRACES, without(request(), "resourceSpans", 0, "scopeSpans", 0, "scope")),
    ("other scope", TRACES, changed(
        request(), "resourceSpans", 0, "scopeSpans", 0, "scope", {"name": "warp"})),
    ("no service name", TRACES, without(
        request(), "resourceSpans", 0, "resource", "attributes", 0)),
    ("no version", TRACES, without(request(), "resourceSpans", 0, "resource", "attributes", -1)),
    ("metrics where spans belong", TRACES, metrics()),
    ("no path", ("/v1/logs", TRACE_REQUEST), request()),
    ("metric that nobody declares", METRICS, metrics(counter() | {"name": "scheduler.dreams"})),
    ("name of Prometheus", METRICS, metrics(counter() | {"name": "scheduler_tasks_spawned_total"})),
    ("other unit", METRICS, metrics(counter() | {"unit": "1"})),
    ("no unit", METRICS, metrics(without(counter(), "unit"))),
    ("other description", METRICS, metrics(counter() | {"description": "Tasks."})),
    ("no data", METRICS, metrics(without(counter(), "sum"))),
    ("two kinds of data", METRICS, metrics(counter() | {"gauge": {"dataPoints": []}})),
    ("kind that Weft has not", METRICS, metrics(
        without(counter(), "sum") | {"summary": {"dataPoints": []}})),
    ("counter that may fall", METRICS, changed(metrics(), *IN_SUM, "isMonotonic", False)),
    ("counter as a gauge", METRICS, metrics(without(counter(), "sum") | {
        "gauge": {"dataPoints": counter()["sum"]["dataPoints"]}})),
    ("monotonic as a word", METRICS, changed(metrics(), *IN_SUM, "isMonotonic", "true")),
    ("deltas", METRICS, changed(metrics(), *IN_SUM, "aggregationTemporality", 1)),
    ("temporality as a word", METRICS, changed(
        metrics(), *IN_SUM, "aggregationTemporality", "AGGREGATION_TEMPORALITY_CUMULATIVE")),
    ("no temporality", METRICS, without(metrics(), *IN_SUM, "aggregationTemporality")),
    ("no points", METRICS, changed(metrics(), *IN_SUM, "dataPoints", [])),
    ("no metrics", METRICS, changed(
        metrics(), "resourceMetrics", 0, "scopeMetrics", 0, "metrics", [])),
    ("metric twice", METRICS, metrics(counter(), counter())),
    ("series twice", METRICS, changed(
        metrics(), *IN_SUM, "dataPoints", counter()["sum"]["dataPoints"] * 2)),
    ("asInt as a number", METRICS, metrics(counter(5))),
    ("asInt with a point", METRICS, metrics(counter("5.0"))),
    ("asInt beyond 64 bits", METRICS, metrics(counter("9223372036854775808"))),
    ("two values", METRICS, metrics(counter(asDouble=5))),
    ("no value", METRICS, without(metrics(), *IN_SUM, "dataPoints", 0, "asInt")),
    ("negative counter", METRICS, metrics(counter("-1"))),
    ("no beginning", METRICS, without(metrics(), *IN_SUM, "dataPoints", 0, "startTimeUnixNano")),
    ("beginning after the end", METRICS, metrics(counter(startTimeUnixNano=str(NOW + 5)))),
    ("time of last year", METRICS, metrics(counter(timeUnixNano=str(NOW - 365 * 24 * 3600 * 10**9)))),
    ("no name of the scheduler", METRICS, metrics(counter(attributes=labels()[1:]))),
    ("label that is missing", METRICS, metrics(counter(attributes=labels()[:1]))),
    ("attribute in Prometheus' spelling", METRICS, metrics(
        counter(attributes=labels(pair("scheduler_name", "main"))))),
    ("attribute of another metric", METRICS, metrics(
        counter(attributes=labels(pair("hybrid.io.engine", "epoll"))))),
    ("too few buckets", METRICS, metrics(histogram(bucketCounts=["5"]))),
    ("buckets that do not add up", METRICS, metrics(histogram(bucketCounts=["4", "0", "0"]))),
    ("buckets as numbers", METRICS, metrics(histogram(bucketCounts=[4, 0, 1]))),
    ("bounds that fall", METRICS, metrics(histogram(explicitBounds=[10, 0.001]))),
    ("bounds as text", METRICS, metrics(histogram(explicitBounds=["0.001", "10"]))),
    ("count as a number", METRICS, metrics(histogram(count=5))),
    ("sum as text", METRICS, metrics(histogram(sum="12.5"))),
    ("field of a number in a histogram", METRICS, metrics(histogram(asInt="5"))),
]


class TheReceiver(unittest.TestCase):
    def test_takes_what_is_right(self):
        checker = Checker(SCHEMA)
        checker.take("/v1/traces", request(), NOW)
        checker.take("/v1/metrics", metrics(), NOW)
        checker.check_parents()
        self.assertEqual((len(checker.spans), checker.points), (2, 2))

    def test_refuses_what_is_wrong(self):
        for what, (path, _), document in WRONG:
            with self.subTest(what):
                with self.assertRaises(Refused):
                    Checker(SCHEMA).take(path, document, NOW)

    def test_takes_numbers_that_are_not_finite_as_words(self):
        check_structure(METRICS_REQUEST, metrics(histogram(sum="NaN")))

    def test_refuses_a_counter_that_falls(self):
        checker = Checker(SCHEMA)
        checker.take("/v1/metrics", metrics(counter("5")), NOW)
        with self.assertRaises(Refused):
            checker.take("/v1/metrics", metrics(counter("4")), NOW)
        checker.take("/v1/metrics", metrics(counter("1", startTimeUnixNano=str(NOW - 1500))), NOW)

    def test_refuses_a_metric_that_changes_its_type(self):
        checker = Checker(SCHEMA)
        checker.take("/v1/metrics", metrics(counter("5")), NOW)
        real = without(counter(asDouble=6), "sum", "dataPoints", 0, "asInt")
        with self.assertRaises(Refused):
            checker.take("/v1/metrics", metrics(real), NOW)

    def test_refuses_parents_that_do_not_come_or_are_of_another_trace(self):
        for wrong in (span(parentSpanId="00000000000000cc"), span(traceId="f" * 32)):
            checker = Checker(SCHEMA)
            checker.take("/v1/traces", request(wrong), NOW)
            with self.assertRaises(Refused):
                checker.check_parents()

    def test_answers_over_http(self):
        receiver = Receiver(Checker(SCHEMA))

        def post(path, body, kind="application/json"):
            headers = {"Content-Type": kind, "X-Tenant": "7"}
            asked = urllib.request.Request(receiver.endpoint + path, body, headers)
            try:
                with urllib.request.urlopen(asked, timeout=30) as answer:
                    return answer.status
            except urllib.error.HTTPError as error:
                with error:
                    return error.code

        good = json.dumps(request()).encode()
        self.assertEqual(post("/v1/traces", good), 503)  # the first one, always
        self.assertEqual(post("/v1/traces", good), 200)
        self.assertEqual(post("/v1/traces", b"{"), 400)
        self.assertEqual(post("/v1/traces", b"\xff{}"), 400)
        self.assertEqual(post("/v1/traces", good, "application/x-protobuf"), 400)
        self.assertEqual(len(receiver.problems), 3)
        receiver.close()


if __name__ == "__main__":
    unittest.main()
