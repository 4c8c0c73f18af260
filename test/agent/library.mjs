// Replaces the server of the library document: its nine tools over a store of a few chunks, MCP 2024-11-05 on stdin and
// stdout. Like that server it requires MISTRAL_API_KEY. WEAVIATE_URL is only shown by `ping`.
if (!process.env.MISTRAL_API_KEY) {
  process.stderr.write("MISTRAL_API_KEY is required\n");
  process.exit(1);
}

const PEIRCE = "Charles Sanders Peirce";
const CHUNKS = [
  [PEIRCE, "Collected Papers", "What is nominalism? The doctrine that nothing is general but names."],
  [PEIRCE, "Collected Papers", "I am a scholastic realist of a somewhat extreme stripe."],
  [PEIRCE, "Collected Papers", "Realism holds that some generals are real."],
  [PEIRCE, "Collected Papers", "Nominalism and realism divide on what is general."],
  [PEIRCE, "Pragmatism", "What is a habit? A general law of action."],
  [PEIRCE, "Pragmatism", "The nominalism of Ockham is called subtle."],
  ["William James", "Pragmatism", "What is nominalism? A taste for the particular."],
].map(([work_author, work_title, text], order_index) => ({
  text,
  work_author,
  work_title,
  source_id: `${work_title.toLowerCase().replace(" ", "_")}_${work_author.split(" ").at(-1).toLowerCase()}`,
  order_index,
}));
const deleted = new Set();
const store = () => CHUNKS.filter(({ source_id }) => !deleted.has(source_id));

const words = (text) => new Set(text.toLowerCase().match(/[a-z]+/g) ?? []);
function similarity(query, text) {
  const [one, other] = [words(query), words(text)];
  return Number(([...one].filter((word) => other.has(word)).length / Math.sqrt(one.size * other.size || 1)).toFixed(4));
}

const documents = () =>
  Object.values(
    Object.fromEntries(
      store().map(({ source_id, work_title, work_author }) => [
        source_id,
        {
          source_id,
          work_title,
          work_author,
          pages: 1,
          language: "en",
          chunks_count: store().filter((chunk) => chunk.source_id === source_id).length,
        },
      ]),
    ),
  );
const object = (properties, required = []) => ({ type: "object", properties, required });
const string = { type: "string" };
const integer = (preset) => ({ type: "integer", default: preset });

const TOOLS = {
  ping: [
    "Reports that the server is running",
    object({}),
    () => `pong, store at ${process.env.WEAVIATE_URL ?? "http://localhost:8080"}`,
  ],
  parse_pdf: [
    "Process a PDF with OCR and ingest to Weaviate",
    object({ pdf_path: string }, ["pdf_path"]),
    ({ pdf_path }) => ({
      success: pdf_path.endsWith(".pdf"),
      document_name: pdf_path,
      chunks_count: 3,
      ...(pdf_path.endsWith(".pdf") ? {} : { error: "no PDF" }),
    }),
  ],
  search_chunks: [
    "Search for text chunks using semantic similarity",
    object({ query: string, limit: integer(10), author_filter: string }, ["query"]),
    ({ query, limit = 10, author_filter: author }) => {
      const hits = store()
        .filter((chunk) => author === undefined || chunk.work_author === author)
        .map((chunk) => ({ ...chunk, similarity: similarity(query, chunk.text) }));
      const results = hits.toSorted((a, b) => b.similarity - a.similarity).slice(0, limit);
      return { results, total_count: results.length, query };
    },
  ],
  search_summaries: [
    "Search summaries",
    object({ query: string, limit: integer(10) }, ["query"]),
    ({ query }) => ({ results: [], total_count: 0, query }),
  ],
  get_document: [
    "Read a document's record",
    object({ source_id: string }, ["source_id"]),
    ({ source_id }) => ({
      document: documents().find((one) => one.source_id === source_id) ?? null,
      found: documents().some((one) => one.source_id === source_id),
    }),
  ],
  list_documents: [
    "List documents",
    object({ limit: integer(50), offset: integer(0) }),
    ({ limit = 50, offset = 0 }) => ({
      documents: documents().slice(offset, offset + limit),
      total_count: documents().length,
      limit,
      offset,
    }),
  ],
  get_chunks_by_document: [
    "Read a document's chunks in order",
    object({ source_id: string }, ["source_id"]),
    ({ source_id }) => ({
      chunks: store().filter((chunk) => chunk.source_id === source_id),
      document_source_id: source_id,
    }),
  ],
  filter_by_author: [
    "List an author's works",
    object({ author: string }, ["author"]),
    ({ author }) => ({ author, documents: documents().filter(({ work_author }) => work_author === author) }),
  ],
  delete_document: [
    "Delete a document",
    object({ source_id: string, confirm: { type: "boolean", default: false } }, ["source_id"]),
    ({ source_id, confirm = false }) => {
      if (!confirm)
        return { success: false, source_id, error: "Confirmation required: set confirm=True to delete the document" };
      deleted.add(source_id);
      return { success: true, source_id };
    },
  ],
};

const reply = (id, answer) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
function answer({ id, method, params }) {
  if (id === undefined) return;
  if (method === "initialize")
    return reply(id, {
      result: {
        protocolVersion: "2024-11-05",
        capabilities: { tools: {} },
        serverInfo: { name: "library-rag", version: "1.0.0" },
      },
    });
  if (method === "tools/list")
    return reply(id, {
      result: {
        tools: Object.entries(TOOLS).map(([name, [description, inputSchema]]) => ({ name, description, inputSchema })),
      },
    });
  if (method !== "tools/call" || !TOOLS[params.name])
    return reply(id, { error: { code: -32601, message: `Method not found: ${method}` } });
  process.stderr.write(`calling ${params.name}\n`);
  const value = TOOLS[params.name][2](params.arguments ?? {});
  return reply(id, {
    result: { content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }] },
  });
}

let rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
process.stdin.on("end", () => process.exit(0));
