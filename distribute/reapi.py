"""Remote Execution API, version 2 (bazelbuild/remote-apis): its messages as far as they are used, and a client.

Contents are stored under their digests (SHA-256 and size), and so are messages: a directory names its files by
digests, a command and a directory make an action, and an action's digest is asked for, or executed.
"""

import hashlib
import os
import random
import time
import uuid

import grpc
import protobuf

DIGEST = {1: ("hash", str), 2: ("size_bytes", int)}
PAIR = {1: ("name", str), 2: ("value", str)}
PLATFORM = {1: ("properties", [PAIR])}
COMMAND = {
    1: ("arguments", [str]), 2: ("environment_variables", [PAIR]), 3: ("output_files", [str]),
    5: ("platform", PLATFORM), 6: ("working_directory", str), 7: ("output_paths", [str]),
}
ACTION = {
    1: ("command_digest", DIGEST), 2: ("input_root_digest", DIGEST), 6: ("timeout", {1: ("seconds", int)}),
    7: ("do_not_cache", bool), 10: ("platform", PLATFORM),
}
FILE_NODE = {1: ("name", str), 2: ("digest", DIGEST), 4: ("is_executable", bool)}
DIRECTORY = {1: ("files", [FILE_NODE]), 2: ("directories", [{1: ("name", str), 2: ("digest", DIGEST)}])}
STATUS = {1: ("code", int), 2: ("message", str)}
OUTPUT_FILE = {1: ("path", str), 2: ("digest", DIGEST), 5: ("contents", bytes)}
RESULT = {
    2: ("output_files", [OUTPUT_FILE]), 4: ("exit_code", int), 5: ("stdout_raw", bytes), 6: ("stdout_digest", DIGEST),
    7: ("stderr_raw", bytes), 8: ("stderr_digest", DIGEST),
}
EXECUTE = {1: ("instance_name", str), 3: ("skip_cache_lookup", bool), 6: ("action_digest", DIGEST)}
WAIT = {1: ("name", str)}
ANY = {1: ("type_url", str), 2: ("value", bytes)}
OPERATION = {1: ("name", str), 3: ("done", bool), 4: ("error", STATUS), 5: ("response", ANY)}
EXECUTE_RESPONSE = {1: ("result", RESULT), 2: ("cached_result", bool), 3: ("status", STATUS), 5: ("message", str)}
GET_RESULT = {
    1: ("instance_name", str), 2: ("action_digest", DIGEST), 5: ("inline_output_files", [str]),
}
FIND_MISSING = {1: ("instance_name", str), 2: ("blob_digests", [DIGEST])}
MISSING = {2: ("missing_blob_digests", [DIGEST])}
BLOB = {1: ("digest", DIGEST), 2: ("data", bytes)}
UPDATE = {1: ("instance_name", str), 2: ("requests", [BLOB])}
UPDATED = {1: ("responses", [{1: ("digest", DIGEST), 2: ("status", STATUS)}])}
INSTANCE = {1: ("instance_name", str)}
CAPABILITIES = {
    1: ("cache", {1: ("digest_functions", [int]), 4: ("max_batch_total_size_bytes", int)}),
    2: ("execution", {1: ("digest_function", int), 2: ("exec_enabled", bool)}),
}
STREAM_WRITE = {1: ("resource_name", str), 2: ("write_offset", int), 3: ("finish_write", bool), 10: ("data", bytes)}
STREAM_WRITTEN = {1: ("committed_size", int)}
STREAM_READ = {1: ("resource_name", str)}
STREAM_DATA = {10: ("data", bytes)}

SHA256 = 1
# gRPC's own limit for messages is 4 MiB, and there is more in one than data.
BATCH = 3 << 20
PIECE = 1 << 20
# Failures that go away: a service that starts again, a worker that has gone, too much at a time.
PASSING = {
    grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.ABORTED, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DATA_LOSS,
}
CODES = {code.value[0]: code for code in grpc.StatusCode}


class Failure(Exception):
    """What a service has to say. `passes`: to ask again may help; `lacks`: what was stored is not there any more."""

    def __init__(self, text, passes=False, lacks=False):
        super().__init__(text)
        self.passes = passes
        self.lacks = lacks


def digest(data):
    return {"hash": hashlib.sha256(data).hexdigest(), "size_bytes": len(data)}


def failure(error):
    code = error.code()
    text = f"{code.name}: {error.details()}" if code else str(error)
    return Failure(text, code in PASSING, code == grpc.StatusCode.FAILED_PRECONDITION)


class Service:
    """A connection to a service. All of its functions may be called by several threads."""

    def __init__(self, options):
        self.instance = options.instance
        self.retries = options.retries
        self.timeout = options.timeout or None
        self.call_timeout = options.call_timeout or None
        self.metadata = options.headers
        limits = [("grpc.max_receive_message_length", -1), ("grpc.keepalive_time_ms", 30_000)]
        if options.credentials:
            self.channel = grpc.secure_channel(options.service, options.credentials, limits)
        else:
            self.channel = grpc.insecure_channel(options.service, limits)
        self.batch = BATCH

    def call(self, path, request, answer, message):
        """One question and its answer; asked again if that may help."""
        ask = self.channel.unary_unary(
            path, lambda message: protobuf.write(request, message), lambda data: protobuf.read(answer, data))
        return self.again(lambda: ask(message, timeout=self.call_timeout, metadata=self.metadata))

    def again(self, work):
        for attempt in range(self.retries + 1):
            try:
                try:
                    return work()
                except grpc.RpcError as error:
                    raise failure(error) from error
            except Failure as error:
                if not error.passes or attempt == self.retries:
                    raise
            # Many ask at a time, so they do not all come back at a time.
            time.sleep(min(0.1 * 2 ** attempt, 5) * (0.5 + random.random()))
        raise AssertionError

    def check(self):
        """Looks whether the service does what is needed, and how much it takes at a time."""
        try:
            found = self.call(
                "/build.bazel.remote.execution.v2.Capabilities/GetCapabilities", INSTANCE, CAPABILITIES,
                {"instance_name": self.instance})
        except Failure as error:
            if str(error).startswith("UNIMPLEMENTED"):
                return
            raise
        functions = found["cache"].get("digest_functions") or [found["execution"].get("digest_function", SHA256)]
        if SHA256 not in functions and functions != [0]:
            raise Failure("it does not take digests by SHA-256")
        if found["execution"] and not found["execution"]["exec_enabled"]:
            raise Failure("it stores, but does not execute")
        limit = found["cache"].get("max_batch_total_size_bytes", 0)
        self.batch = min(BATCH, limit or BATCH)

    # Contents

    def upload(self, blobs):
        """Stores contents, a dictionary by digests' hashes, as far as they are not there."""
        digests = [digest(data) for data in blobs.values()]
        missing = []
        for start in range(0, len(digests), 1000):
            missing += self.call(
                "/build.bazel.remote.execution.v2.ContentAddressableStorage/FindMissingBlobs", FIND_MISSING, MISSING,
                {"instance_name": self.instance, "blob_digests": digests[start:start + 1000]}
            )["missing_blob_digests"]
        batch, size = [], 0
        for wanted in missing:
            data = blobs.get(wanted["hash"])
            if data is None:
                raise Failure("it asks for what it was not told of")
            if len(data) > self.batch // 2:
                self.write_stream(wanted, data)
                continue
            if size + len(data) > self.batch:
                self.update(batch)
                batch, size = [], 0
            batch.append({"digest": wanted, "data": data})
            size += len(data) + 200
        if batch:
            self.update(batch)

    def update(self, batch):
        def work():
            answer = self.call(
                "/build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs", UPDATE, UPDATED,
                {"instance_name": self.instance, "requests": batch})
            for one in answer["responses"]:
                if one["status"].get("code", 0):
                    raise of_status(one["status"])
        self.again(work)

    def write_stream(self, wanted, data):
        name = f"uploads/{uuid.uuid4()}/blobs/{wanted['hash']}/{wanted['size_bytes']}"
        name = f"{self.instance}/{name}" if self.instance else name

        def pieces():
            for start in range(0, len(data), PIECE):
                piece = data[start:start + PIECE]
                yield {"resource_name": name, "write_offset": start, "data": piece,
                       "finish_write": start + len(piece) == len(data)}

        send = self.channel.stream_unary(
            "/google.bytestream.ByteStream/Write", lambda message: protobuf.write(STREAM_WRITE, message),
            lambda data: protobuf.read(STREAM_WRITTEN, data))
        self.again(lambda: send(pieces(), timeout=self.call_timeout, metadata=self.metadata))

    def download(self, wanted):
        """Contents, which have their digest."""
        if not wanted.get("size_bytes"):
            return b""
        name = f"blobs/{wanted['hash']}/{wanted['size_bytes']}"
        name = f"{self.instance}/{name}" if self.instance else name
        receive = self.channel.unary_stream(
            "/google.bytestream.ByteStream/Read", lambda message: protobuf.write(STREAM_READ, message),
            lambda data: protobuf.read(STREAM_DATA, data))

        def work():
            stream = receive({"resource_name": name}, timeout=self.call_timeout, metadata=self.metadata)
            data = b"".join(piece["data"] for piece in stream)
            return checked(data, wanted)

        return self.again(work)

    # Actions

    def known(self, action, outputs):
        """The result of an action that was executed before, if the service has it."""
        try:
            return self.call(
                "/build.bazel.remote.execution.v2.ActionCache/GetActionResult", GET_RESULT, RESULT,
                {"instance_name": self.instance, "action_digest": action, "inline_output_files": outputs})
        except Failure as error:
            if str(error).startswith(("NOT_FOUND", "UNIMPLEMENTED", "PERMISSION_DENIED")):
                return None
            raise

    def execute(self, action, anew):
        """The result of an action that is executed, or was meanwhile."""
        start = self.channel.unary_stream(
            "/build.bazel.remote.execution.v2.Execution/Execute", lambda message: protobuf.write(EXECUTE, message),
            lambda data: protobuf.read(OPERATION, data))
        stream = start(
            {"instance_name": self.instance, "skip_cache_lookup": anew, "action_digest": action},
            timeout=self.timeout, metadata=self.metadata)
        name = ""
        try:
            for operation in stream:
                name = operation["name"] or name
                if operation["done"]:
                    return of_operation(operation)
        except grpc.RpcError as error:
            # It may go on there.
            if not name or error.code() != grpc.StatusCode.UNAVAILABLE:
                raise failure(error) from error
        return self.wait(name)

    def wait(self, name):
        wait = self.channel.unary_stream(
            "/build.bazel.remote.execution.v2.Execution/WaitExecution", lambda message: protobuf.write(WAIT, message),
            lambda data: protobuf.read(OPERATION, data))
        try:
            for operation in wait({"name": name}, timeout=self.timeout, metadata=self.metadata):
                if operation["done"]:
                    return of_operation(operation)
        except grpc.RpcError as error:
            raise failure(error) from error
        raise Failure("the execution ended without a result", passes=True)


def checked(data, wanted):
    if digest(data) != {"hash": wanted["hash"], "size_bytes": wanted["size_bytes"]}:
        raise Failure(f"what it sent is not what has the digest {wanted['hash']}", passes=True)
    return data


def of_status(status):
    code = CODES.get(status.get("code", 0), grpc.StatusCode.UNKNOWN)
    text = f"{code.name}: {status.get('message', '')}"
    return Failure(text, code in PASSING, code == grpc.StatusCode.FAILED_PRECONDITION)


def of_operation(operation):
    if operation["error"].get("code", 0):
        raise of_status(operation["error"])
    response = protobuf.read(EXECUTE_RESPONSE, operation["response"].get("value", b""))
    if response["status"].get("code", 0):
        raise of_status(response["status"])
    if not response["result"]:
        raise Failure("an execution without a result", passes=True)
    return response["result"]


class Tree:
    """The directory that an action begins with: a tree of directories, each stored under its digest."""

    def __init__(self):
        self.files = {}
        self.directories = {}

    def add(self, path, content):
        """`content` is a digest."""
        first, _, rest = path.partition(os.sep)
        if rest:
            self.directories.setdefault(first, Tree()).add(rest, content)
        elif content is not None:
            self.files[first] = content

    def store(self, blobs):
        """Puts the tree's messages into `blobs`. The digest of its root."""
        files = [{"name": name, "digest": self.files[name]} for name in sorted(self.files)]
        names = sorted(self.directories)
        directories = [{"name": name, "digest": self.directories[name].store(blobs)} for name in names]
        return message(DIRECTORY, {"files": files, "directories": directories}, blobs)


def message(table, content, blobs):
    data = protobuf.write(table, content)
    found = digest(data)
    blobs[found["hash"]] = data
    return found
