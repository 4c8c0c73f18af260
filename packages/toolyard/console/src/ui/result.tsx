import { formatBytes, t } from "../i18n/texts.ts";
import { Markdown } from "./markdown.tsx";
import { CopyButton, Foreign, Json, Name } from "./parts.tsx";
import { toSchema } from "./schema-form.tsx";

type Block = Readonly<Record<string, unknown>>;
const MAX_ROWS = 200;
const MAX_JSON_CHARS = 1_000_000;
const IMAGE = /^image\/(png|jpeg|gif|webp|avif)$/;
const AUDIO = /^audio\/[\w.+-]+$/;

/** Shows MCP's result of a tool: structured content as a table, and every block of content by its type. */
export function Result({ result }: { readonly result: Block }) {
  const blocks = Array.isArray(result["content"]) ? (result["content"] as readonly unknown[]).map(toSchema) : [];
  const structured = result["structuredContent"];
  const contents = Array.isArray(result["contents"]) ? (result["contents"] as readonly unknown[]).map(toSchema) : [];
  const isOther = blocks.length === 0 && contents.length === 0 && structured === undefined;
  return (
    <div class="result">
      {structured !== undefined && <Structured value={structured} />}
      {blocks.map((block, at) => (
        <Content key={at} block={block} isRepeated={structured !== undefined} />
      ))}
      {contents.map((one, at) => (
        <Content key={at} block={{ type: "resource", resource: one }} isRepeated={false} />
      ))}
      {isOther && <Json value={result} />}
      <CopyButton text={JSON.stringify(result, null, 2)} label={t("copyAs", { form: "JSON" })} />
    </div>
  );
}

function Content({ block, isRepeated }: { readonly block: Block; readonly isRepeated: boolean }) {
  const { type, mimeType } = block;
  if (type === "text") {
    const text = String(block["text"] ?? "");
    if (isRepeated) return null;
    return (
      <pre tabindex={0} class="text">
        <Foreign text={text} />
      </pre>
    );
  }
  if (type === "image" || type === "audio") return <Media mimeType={String(mimeType)} data={String(block["data"])} />;
  if (type === "resource_link") return <Link uri={String(block["uri"])} name={String(block["name"] ?? block["uri"])} />;
  if (type === "resource") return <Embedded resource={toSchema(block["resource"])} />;
  return <Json value={block} />;
}

function Embedded({ resource }: { readonly resource: Block }) {
  const { uri, text, blob, mimeType = "application/octet-stream" } = resource;
  return (
    <figure>
      <figcaption class="dim">
        <Name text={String(uri)} /> <Name text={String(mimeType)} />
      </figcaption>
      {typeof text === "string" && <Document mimeType={String(mimeType)} text={text} />}
      {typeof blob === "string" && <Media mimeType={String(mimeType)} data={blob} />}
    </figure>
  );
}

/** Shows a text. Markdown and JSON are formatted; HTML and everything else is shown as plain text. */
function Document({ mimeType, text }: { readonly mimeType: string; readonly text: string }) {
  if (/^text\/(?:x-)?markdown\b/i.test(mimeType)) return <Markdown text={text} />;
  const value = /[/+]json\b/i.test(mimeType) && text.length < MAX_JSON_CHARS ? parsed(text) : undefined;
  if (value !== undefined) return <Structured value={value} />;
  return (
    <pre tabindex={0} dir="auto" class="text">
      <Foreign text={text} />
    </pre>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function Media({ mimeType, data }: { readonly mimeType: string; readonly data: string }) {
  if (IMAGE.test(mimeType)) return <img class="media" alt={t("result")} src={`data:${mimeType};base64,${data}`} />;
  if (AUDIO.test(mimeType)) return <audio controls src={`data:${mimeType};base64,${data}`} />;
  // Data of any other type is offered as a download, not shown as a document, because it could contain a script.
  return (
    <p>
      <Name text={mimeType} /> {formatBytes((data.length * 3) / 4)}{" "}
      <a download="result" href={`data:application/octet-stream;base64,${data}`}>
        {t("download")}
      </a>
    </p>
  );
}

function Link({ uri, name }: { readonly uri: string; readonly name: string }) {
  const isWeb = /^https?:\/\//i.test(uri);
  return (
    <p>
      {isWeb ? (
        <a href={uri} rel="noopener noreferrer" target="_blank">
          <Name text={name} />
        </a>
      ) : (
        <Name text={name} />
      )}{" "}
      <Name class="dim" text={uri} />
    </p>
  );
}

/** Shows a list of objects, or an object with one such list, as a table. */
function Structured({ value }: { readonly value: unknown }) {
  const rows = rowsOf(value);
  if (!rows) return <Json value={value} />;
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, 20);
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                <Name text={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((row, at) => (
            <tr key={at}>
              {columns.map((column) => (
                <td key={column}>
                  <Foreign text={textOf(row[column])} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function rowsOf(value: unknown): readonly Block[] | undefined {
  if (Array.isArray(value))
    return value.length > 0 && value.every((one) => typeof one === "object" && one !== null && !Array.isArray(one))
      ? value.map(toSchema)
      : undefined;
  const lists = Object.values(toSchema(value)).filter(Array.isArray);
  const only = Object.keys(toSchema(value)).length === 1 ? lists[0] : undefined;
  if (only) return rowsOf(only);
  const isFlat = Object.values(toSchema(value)).every((one) => typeof one !== "object" || one === null);
  return isFlat && typeof value === "object" && value !== null
    ? Object.entries(value).map(([name, member]) => ({ name, value: member }))
    : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}
