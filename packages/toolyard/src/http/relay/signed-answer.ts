import { FRAME, FrameDecoder, type OutgoingFrame, type WorkerFrame } from "../adapters/workers/frames.ts";
import { RemoteAnswerWire } from "../adapters/workers/remote-wire.ts";
import { HttpAnswer, type AnswerFaults } from "../answer/answer.ts";
import { PacedAnswer } from "./frames/paced-answer.ts";
import { RecordReader, RecordWriter } from "./frames/records.ts";
import { RELAY_HEADER, RELAYED } from "./relayed-headers.ts";

const HEADERS = ["content-type", "application/octet-stream", RELAY_HEADER, RELAYED.signed];
/** Number in the frames. A response has one answer, so all frames have the same. */
const EXCHANGE = 1;

export interface SignedAnswerParts {
  /** Response to the HTTP request of the other hub. */
  readonly response: HttpAnswer;
  /** Key of the answer to this request. */
  readonly key: Buffer;
  readonly logger: AnswerFaults;
}

/**
 * Returns an answer that is sent in the body of an HTTP response, as frames in records, as on a connection with frames.
 * The code of a record depends on its number, so that no part of the answer can be changed, repeated or left out.
 */
export function createSignedAnswer({ response, key, logger }: SignedAnswerParts): HttpAnswer {
  const sender = new ResponseSender(response, key, (bytes) => {
    if (!isOver) wire.taken(bytes);
    paced.taken(bytes);
  });
  const paced = new PacedAnswer(sender, EXCHANGE, () => {});
  let isOver = false;
  const wire = new RemoteAnswerWire(paced, EXCHANGE, () => (isOver = true));
  const answer = new HttpAnswer(wire, logger);
  response.onClosed(() => {
    paced.drop();
    wire.gone();
  });
  return answer;
}

/** Writes frames to a response. */
class ResponseSender {
  readonly #response: HttpAnswer;
  readonly #records: RecordWriter;
  readonly #onTaken: (bytes: number) => void;

  /** `onTaken` is called with the size of each piece that has left this hub. */
  constructor(response: HttpAnswer, key: Buffer, onTaken: (bytes: number) => void) {
    this.#response = response;
    this.#records = new RecordWriter(key);
    this.#onTaken = onTaken;
  }

  send(frame: OutgoingFrame): void {
    const response = this.#response;
    if (frame.type === FRAME.cut) return response.cut();
    const record = this.#records.write([frame]);
    if (frame.type === FRAME.answer) return response.send(200, HEADERS, record);
    if (response.isOpen) response.begin(200, HEADERS);
    if (frame.type === FRAME.end) return response.end(record);
    const bytes = Buffer.byteLength(frame.body);
    response.write(record, frame.type === FRAME.piece ? () => this.#onTaken(bytes) : undefined);
  }
}

/** Reads the frames of a response. */
export class SignedAnswerReader {
  readonly #records: RecordReader;

  constructor(key: Buffer) {
    this.#records = new RecordReader(key);
  }

  /** Yields the frames of each complete record. Throws a `RecordError` if a record was altered. */
  *read(chunk: Buffer): Generator<WorkerFrame> {
    for (const record of this.#records.read(chunk)) yield* new FrameDecoder().decode(record);
  }
}
