"""An OTLP/HTTP receiver that decodes with the official messages of OpenTelemetry.

Prints its port, then one line of JSON for each request.
"""

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

# Requests are handled in threads, whose lines must not mix.
PRINTING = threading.Lock()
REQUESTS = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
    "/v1/logs": ExportLogsServiceRequest,
}


def unknown_fields(message):
    """Returns the number of fields that the official messages do not define, at any depth."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    count = len(UnknownFieldSet(message))
    for descriptor, value in message.ListFields():
        if descriptor.message_type is None:
            continue
        for part in value if hasattr(value, "append") or hasattr(value, "add") else [value]:
            count += unknown_fields(part)
    return count


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        message = REQUESTS[self.path]()
        message.ParseFromString(body)
        line = {"path": self.path, "unknown": unknown_fields(message), "message": MessageToDict(message)}
        with PRINTING:
            print(json.dumps(line), flush=True)
        answer = ExportTraceServiceResponse()
        if self.path == "/v1/traces":
            answer.partial_success.rejected_spans = 1
            answer.partial_success.error_message = "a test"
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.end_headers()
        self.wfile.write(answer.SerializeToString())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
