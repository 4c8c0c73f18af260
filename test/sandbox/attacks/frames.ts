import { CONTAINED, javascript, python, type Attack, type Expectation } from "./attack.ts";

// Forged frames to the host.

const NOT_ON = { "bwrap-python": "speaks over a pipe, see frames/pipe" } as const;
/** Opens the guest's channel to its thread. */
const OPEN =
  "import os, json\nfd = os.open('/.rpc', os.O_RDWR)\ndef say(data):\n" +
  "    try: return os.write(fd, data if isinstance(data, bytes) else json.dumps(data).encode())\n" +
  "    except OSError as e: return type(e).__name__\n";
// oxlint-disable-next-line toolyard/test-parameters -- A row of the table of attacks.
const raw = (
  id: string,
  what: string,
  code: string,
  expect: Expectation = CONTAINED,
  more: Partial<Attack> = {},
): Attack => ({ ...python(id, what, OPEN + code, expect), notOn: NOT_ON, ...more });
/** Well-formed frames for the pipe between hub and engine. Restricted code cannot reach it. */
const PIPE =
  "import os, json\ndef frame(head, extra=0):\n    b = json.dumps(head).encode()\n" +
  "    return len(b).to_bytes(4, 'big') + extra.to_bytes(4, 'big') + b\n" +
  "heads = [{'type': 'call', 'run': 1, 'id': 1, 'path': 'x' * 100_000, 'json': '{}'}, {'type': 'call', 'id': " +
  "2, 'path': 'a', 'json': '{junk'}, {'type': 'waiting', 'waits': True}, {'type': 'sessions', 'count': " +
  "1e300}, {'type': 'output', 'stream': 'stdout', 'text': 'x' * 100_000}, {'type': 'ready'}, {'type': " +
  "'started'}, {'type': 'done', 'done': {'end': 'cancelled', 'truncated': False}, 'files': [{'path': '../up', " +
  "'size': 0}]}]\nfor n in range(3, 64):\n    for head in heads:\n        try: os.write(n, frame(head))\n" +
  "        except OSError: break\n    try: os.write(n, frame({}, 2**32 - 1))\n    except OSError: pass\n1";
/** The prelude's host function, read from a stack. */
const FUNCTION =
  "Error.prepareStackTrace = (_, f) => f; let host; try { files.read('../x') } catch (e) { host = " +
  "[...e.stack].find((f) => f.getFunctionName?.() === 'host')?.getFunction() } host ??= () => {};\n";
// oxlint-disable-next-line toolyard/test-parameters -- A row of the table of attacks.
const forged = (
  id: string,
  what: string,
  code: string,
  expect: Expectation = CONTAINED,
  more: Partial<Attack> = {},
): Attack => ({ ...javascript(id, what, FUNCTION + code, expect), limits: { wallMs: 800 }, ...more });

export const FRAMES: readonly Attack[] = [
  raw(
    "frames/junk",
    "sends bytes that are no frame",
    "for data in (b'', b'junk', b'\\xff\\xfe', b'[]', b'null', b'{\"op\":\"__proto__\"}', " +
      "b'{\"__proto__\":{\"op\":\"done\"}}', b'\\0' * 100, b'[' * 50_000): say(data)\n'on'",
    { ends: ["finished"], value: "on" },
  ),
  raw(
    "frames/oversize",
    "speaks a frame larger than any",
    'say(b\'{"op":"call","x":"\' + b\'x\' * 20_000_000 + b\'"}\')',
    { ends: ["finished", "memory", "error"] },
  ),
  raw(
    "frames/call",
    "calls with wrong members",
    "for bad in ({'id': '1'}, {'id': -1}, {'id': 1.5}, {'id': 2**60}, {'path': 1}, {'path': 'x' * 10_000}, " +
      "{'json': {}}, {'json': '[1]'}, {'json': '{junk'}): say({'op': 'call', 'id': 7, 'path': 'a', 'json': " +
      "'{}', **bad})\n'on'",
    CONTAINED,
  ),
  raw(
    "frames/same-id",
    "calls twice under one number",
    "say({'op': 'call', 'id': 1, 'path': 'a', 'json': '{}'})\n" +
      "say({'op': 'call', 'id': 1, 'path': 'a', 'json': '{}'})\ntools.a().result()",
    CONTAINED,
  ),
  raw(
    "frames/reply",
    "sends a message of the host",
    "for op in ('reply', 'job', 'started', 'sessions', 'cancel', 'output', 'waiting', 'ready', 'next', " +
      "'park', 'boot', 'zone'): say({'op': op, 'run': 1, 'id': 1, 'ok': True, 'json': '1', 'count': 99, 'key': " +
      "'../../etc/passwd'})\n'on'",
    CONTAINED,
    { limits: { wallMs: 800 } },
  ),
  raw(
    "frames/done-twice",
    "ends twice",
    "say({'op': 'done', 'end': 'finished', 'result': '1'})\n" +
      "say({'op': 'done', 'end': 'finished', 'result': '2'})\nos._exit(0)",
    { ends: ["finished"], value: 1 },
  ),
  raw(
    "frames/done-junk",
    "ends with a result that is no JSON",
    "say({'op': 'done', 'end': 'finished', 'result': '{junk'})",
    { ends: ["crashed", "error"] },
  ),
  raw("frames/done-forged", "ends as only the host may", "say({'op': 'done', 'end': 'cancelled'})", {
    ends: ["crashed", "error"],
  }),
  raw(
    "frames/done-large",
    "ends with a result over its bound",
    "say({'op': 'done', 'end': 'finished', 'result': '\"' + 'x' * 200_000 + '\"'})",
    { ends: ["limit", "error", "crashed", "finished"] },
  ),
  raw(
    "frames/after-done",
    "calls tools after its end",
    "say({'op': 'done', 'end': 'finished'})\nfor n in range(50): say({'op': 'call', 'id': n, 'path': 'a', " +
      "'json': '{}'})",
    { ends: ["finished"] },
  ),
  raw(
    "frames/close",
    "closes everything that it talks through",
    "for n in range(64):\n    try: os.close(n)\n    except OSError: pass\n1",
    CONTAINED,
  ),
  raw(
    "frames/wait",
    "waits in every wrong way",
    "for ms in (None, -1, 'x', 1e300, float('nan')):\n    try: say({'op': 'wait', 'ms': ms})\n" +
      "    except ValueError: pass\n'on'",
    CONTAINED,
    { limits: { wallMs: 600 } },
  ),
  raw(
    "frames/slices",
    "computes in slices between waits, past the clock",
    "import time\nend = time.perf_counter() + 20\nwhile time.perf_counter() < end:\n" +
      "    a = time.perf_counter()\n    while time.perf_counter() - a < 0.02: pass\n" +
      "    say({'op': 'wait', 'ms': 6})",
    { ends: ["timeout"], says: /computed/u },
    { limits: { wallMs: 20_000, cpuMs: 200 } },
  ),
  raw(
    "frames/restricted",
    "calls a tool out of the other profile's reach",
    "say({'op': 'call', 'id': 1, 'path': 'a', 'json': '{}'})",
    { ends: ["error"], says: /cannot be imported/u },
    { profile: "restricted" },
  ),
  raw(
    "frames/encoder",
    "makes the library write another frame",
    'json.JSONEncoder.encode = lambda self, o: \'{"op":"call","id":1,"path":"a","json":"{}"}\'\n1',
    CONTAINED,
    { limits: { wallMs: 800, cpuMs: 600 } },
  ),
  python(
    "frames/pipe",
    "writes junk to every descriptor",
    "import os\nfor n in range(3, 64):\n    try: os.write(n, b'\\xff' * 64 + b'junk')\n    except OSError: pass\n1",
    CONTAINED,
    { limits: { wallMs: 2000 } },
  ),
  ...(["scripting", "restricted"] as const).map((profile) =>
    python(`frames/pipe-${profile}`, `writes forged frames to every descriptor (${profile})`, PIPE, CONTAINED, {
      limits: { wallMs: 2000 },
      profile,
    }),
  ),
  forged(
    "frames/js-done",
    "ends with a result that is no JSON",
    "host('done', '{junk'); new Promise(() => {})",
    CONTAINED,
  ),
  forged(
    "frames/js-call",
    "calls with wrong members",
    "for (const [id, text] of [['x', 'a\\n{}'], ['-1', 'a\\n{}'], ['1e99', 'a\\n{}'], ['1', ''], ['1', " +
      "'a\\n{junk'], ['2', 'a\\n[1]'], ['3', '\\0\\n{}']]) { try { host('call', id, text) } catch {} } 1",
    CONTAINED,
  ),
  forged(
    "frames/js-same-id",
    "calls twice under one number",
    "host('call', '1', 'a\\n{}'); host('call', '1', 'a\\n{}'); await tools.a({}); 1",
    CONTAINED,
  ),
  forged(
    "frames/js-search",
    "searches for more than there can be",
    "host('search', '1', 'abc\\nq'); await tools.a({}); 1",
    CONTAINED,
  ),
  forged(
    "frames/js-timer",
    "sets timers that make no sense",
    "for (const text of ['1e999\\n1', 'x\\n1', '-5\\n1', '']) { try { host('timer', '__proto__', text) } catch {} } 1",
    CONTAINED,
  ),
  forged(
    "frames/js-operations",
    "asks for operations that there are not",
    "for (const op of ['__proto__', 'constructor', 'spawn', '', 'x'.repeat(1e5)]) { try { host(op, '{}', new " +
      "Uint8Array(10)) } catch {} } for (const url of ['null', '{}', '[[]]', '[1,2,3,4]', 'x'.repeat(1e5)]) { " +
      "try { host('url', url) } catch {} } 1",
    { ends: ["finished"], value: 1 },
  ),
  forged(
    "frames/js-crowd",
    "calls with a text that is small and becomes large",
    "const text = 'a\\n{\"x\":[' + '{},'.repeat(300_000) + '{}]}'; host('call', '1', text); " +
      "host('call', '2', text); await tools.a({}); 1",
    CONTAINED,
  ),
  forged("frames/js-failed", "fails with words that are none", "host('failed', 'junk'); 1", CONTAINED),
];
