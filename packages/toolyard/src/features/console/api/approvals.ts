import type { Provider } from "../../../core/sources/provider.ts";
import { definitionDigest, matchesPin } from "../../../core/sources/definition-digest.ts";
import { Refusal } from "../../../http/answer/refusal.ts";
import type { ApprovalRow } from "../access-types.ts";
import type { ActionResult } from "../api-types.ts";
import type { ConsoleParts } from "../parts.ts";
import { applyChange, pinTool } from "./edit-sources.ts";
import type { AdminRequest, AdminRoute } from "./route.ts";
import { placesOf } from "./source-files.ts";
import { sourceEditor } from "./source-editor.ts";

const MAX_ROWS = 500;

type ApprovalParts = Pick<ConsoleParts, "hubControl" | "variables" | "logger" | "redactFacts">;

/** Returns the routes that show changed definitions of pinned tools, and approve them. */
export function approvalRoutes(parts: ApprovalParts): readonly AdminRoute[] {
  return [
    {
      method: "GET",
      path: "approvals",
      needs: "all",
      summary: "Pinned tools whose definition is not the approved one.",
      handle: async () => ({ approvals: await waiting(parts) }),
    },
    {
      method: "POST",
      path: "approvals/*/*",
      needs: "change",
      summary: "Approves the definition of a tool with the posted `digest`.",
      event: "approval",
      action: "definition",
      handle: (request) => approve(request, parts),
    },
  ];
}

async function waiting({ hubControl, redactFacts }: ApprovalParts): Promise<readonly ApprovalRow[]> {
  const places = await placesOf(hubControl());
  const rows = await Promise.all(hubControl().providers.map((provider) => changedTools(provider)));
  return rows
    .flat()
    .slice(0, MAX_ROWS)
    .map((row) => {
      const { file, reason } = places.get(row.source) ?? {};
      const readOnlyReason = file === undefined ? "It is not an entry of a configuration file." : reason;
      return {
        ...row,
        definition: redactFacts(row.definition),
        ...(file !== undefined && { file }),
        ...(readOnlyReason !== undefined && { readOnlyReason }),
      };
    });
}

/** Compares the last known list of a source with its pins. Does not wait for the source. */
async function changedTools(provider: Provider): Promise<readonly ApprovalRow[]> {
  const { id, shape } = provider.source;
  const pins = shape?.pins ?? {};
  if (Object.keys(pins).length === 0 || provider.coldStart?.()) return [];
  const { tools } = await provider.listing({ mayBeOld: true });
  return tools.flatMap(({ name, definition }): ApprovalRow[] => {
    const approved = Object.hasOwn(pins, name) ? pins[name] : undefined;
    if (approved === undefined) return [];
    const match = matchesPin(definition, approved);
    if (match === "yes") return [];
    const digest = definitionDigest(definition);
    return [{ source: id, tool: name, approved, digest, isWithheld: match === "no", definition }];
  });
}

/**
 * Approves the definition that the user has read. The digest identifies it, because the source may have changed it
 * since.
 */
async function approve({ names, exchange }: AdminRequest, parts: ApprovalParts): Promise<ActionResult> {
  const [source = "", tool = ""] = names;
  const { digest } = await exchange.readObject("`digest`");
  const row = (await waiting(parts)).find((one) => one.source === source && one.tool === tool);
  if (!row) throw new Refusal(404, `${tool} of ${source} does not wait for an approval.`);
  if (digest !== row.digest)
    throw new Refusal(
      409,
      `The definition of ${tool} has changed again. Read it, and approve its digest ${row.digest}.`,
    );
  const change = await pinTool(sourceEditor(parts), { id: source, tool, digest: row.digest });
  return applyChange(parts.hubControl(), change);
}
