// A client with a user who answers when the test decides.
import { isJsonObject, objectMember, type JsonObject } from "../../packages/toolyard/src/core/json/json.ts";
import { RawClient, type ServerRequestSeen, type EraName } from "../fixtures/raw/raw-client.ts";
import type { RawWire } from "../fixtures/raw/wire.ts";

/** One server request as the user sees it. */
export interface Question {
  /** Text of the server request: the tag of its call and the number of the question. */
  readonly message: string;
  /** Accepts the request with the user's name as the answer. */
  answer(): void;
  decline(): void;
}

export interface AnsweredQuestion {
  readonly question: string;
  readonly answer: string;
}

/** Report of the server at the end of a call. */
export interface CallReport {
  readonly tag: string;
  readonly instance: string;
  readonly answers: readonly AnsweredQuestion[];
}

/** Time limit of each wait in these tests. A wait that fails reports its subject. */
const PATIENCE_MS = 10_000;

export class Person implements AsyncDisposable {
  readonly name: string;
  /** All server requests, in order of arrival. */
  readonly questions: Question[] = [];
  #client!: RawClient;
  #isPrompt = false;
  readonly #waiting = new Set<() => void>();

  private constructor(name: string) {
    this.name = name;
  }

  static async connect(name: string, era: EraName, wire: RawWire): Promise<Person> {
    const person = new Person(name);
    person.#client = await RawClient.open(wire, {
      era,
      clientInfo: { name, version: "1" },
      answer: (asked) => person.#asked(asked),
    });
    return person;
  }

  get client(): RawClient {
    return this.#client;
  }

  /** Resolves with the server request that has this message, past or future. */
  async question(message: string): Promise<Question> {
    return this.#until(
      () => this.questions.find((question) => question.message === message),
      `the question ${message}`,
    );
  }

  /**
   * Calls a tool with a tag, including answers to server requests, and returns the server's report. Throws if the call
   * ends in another way.
   */
  async call(tool: string, tag: string, args: JsonObject = {}): Promise<CallReport> {
    return reportOf(await this.reply(tool, tag, args));
  }

  /** Calls a tool and returns the whole reply. */
  async reply(tool: string, tag: string, args: JsonObject = {}): Promise<JsonObject> {
    return this.#client.call("tools/call", { name: tool, arguments: { tag, ...args } });
  }

  /** Makes a call that can be cancelled; the user answers its questions only when the test decides. */
  async request(tool: string, tag: string, signal: AbortSignal): Promise<JsonObject> {
    return this.#client.request("tools/call", { name: tool, arguments: { tag } }, { signal });
  }

  /**
   * Resolves when a server request was withdrawn, past or future. Legacy era only: the modern era has no message for
   * it.
   */
  async withdrawal(): Promise<JsonObject> {
    return this.#until(
      () => this.#client.received.find(({ method }) => method === "notifications/cancelled"),
      "the withdrawal of a question",
    );
  }

  /** Answers all open questions, and all later ones immediately. */
  answerAll(): void {
    this.#isPrompt = true;
    for (const question of this.questions) question.answer();
  }

  async leave(): Promise<void> {
    await this.#client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }

  #asked({ method, params }: ServerRequestSeen): Promise<JsonObject> {
    if (method !== "elicitation/create")
      return Promise.resolve({ error: { code: -32601, message: "Method not found" } });
    return new Promise((resolve) => {
      const question = {
        message: String(params["message"]),
        answer: () => resolve({ action: "accept", content: { by: this.name } }),
        decline: () => resolve({ action: "decline" }),
      };
      this.questions.push(question);
      if (this.#isPrompt) question.answer();
      this.#wake();
    });
  }

  #wake(): void {
    for (const look of this.#waiting) look();
  }

  #until<T>(find: () => T | undefined, what: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearInterval(every);
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        end();
        resolve(found);
      };
      // Only server requests call `#wake`; polling covers other messages.
      const every = setInterval(look, 20);
      const timer = setTimeout(() => {
        end();
        reject(
          new Error(
            `${this.name} waited in vain for ${what}. Asked so far: ` +
              `${this.questions.map(({ message }) => message).join(", ")}`,
          ),
        );
      }, PATIENCE_MS);
      this.#waiting.add(look);
      look();
    });
  }
}

export function reportOf(reply: JsonObject): CallReport {
  const result = objectMember(reply, "result");
  const content: unknown = result?.["content"];
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  if (result?.["isError"] === true || !isJsonObject(first))
    throw new Error(`The call failed: ${JSON.stringify(reply).slice(0, 500)}`);
  return JSON.parse(String(first["text"])) as CallReport;
}

/** Returns the expected report of a call whose questions were all answered by one user. */
export function answeredBy(name: string, tag: string, questions = 1): { tag: string; answers: AnsweredQuestion[] } {
  return {
    tag,
    answers: Array.from({ length: questions }, (_, index) => ({ question: `${tag}#${index + 1}`, answer: name })),
  };
}
