import { useState } from "preact/hooks";
import type { Approval, ApprovalRow } from "../../../src/features/console/access-types.ts";
import type { ActionResult } from "../../../src/features/console/api-types.ts";
import { call, session } from "../api.ts";
import { t } from "../i18n/texts.ts";
import { href } from "../route.ts";
import { Bounded, LateDetails } from "../ui/bounded.tsx";
import { Failure, useAction } from "../ui/failure.tsx";
import { Commands, Foreign, Json, Name, Pending } from "../ui/parts.tsx";
import { useData } from "../ui/use-data.ts";

export function Approvals() {
  const { data, error, reload } = useData<{ readonly approvals: readonly ApprovalRow[] }>(
    "approvals",
    "sources",
    "lists",
  );
  const [message, setMessage] = useState("");
  if (!data) return <Pending error={error} retry={reload} />;
  return (
    <>
      <p class="dim">{t("approvalsHint")}</p>
      <p role="status">
        <Foreign text={message} />
      </p>
      {data.approvals.length === 0 && <p>{t("noApprovals")}</p>}
      <Bounded>
        {data.approvals.map((row) => (
          <Definition
            key={`${row.source} ${row.tool} ${row.digest}`}
            row={row}
            onApproved={async (text) => {
              setMessage(text);
              await reload();
            }}
          />
        ))}
      </Bounded>
      <Commands lines={["toolyard check"]} />
    </>
  );
}

interface DefinitionProps {
  readonly row: ApprovalRow;
  readonly onApproved: (message: string) => Promise<void>;
}

function Definition({ row, onApproved }: DefinitionProps) {
  const { source, tool, approved, digest, isWithheld, definition, readOnlyReason } = row;
  const { isBusy, error, act } = useAction();
  const approve = (): void =>
    void act(async () => {
      const body: Approval = { digest };
      const path = `approvals/${encodeURIComponent(source)}/${encodeURIComponent(tool)}`;
      await onApproved((await call<ActionResult>("POST", path, { body })).message);
    });
  return (
    <section class="card" aria-label={tool}>
      <h2>
        <Name text={tool} />{" "}
        <span class={`state ${isWithheld ? "down" : "degraded"}`}>{t(isWithheld ? "withheld" : "stillOffered")}</span>
      </h2>
      <p class="dim">
        <a href={href("sources", source)}>
          <Name text={source} />
        </a>
      </p>
      <dl>
        <dt>{t("approvedDigest")}</dt>
        <dd>
          <code>{approved === "" ? "–" : approved}</code>
        </dd>
        <dt>{t("currentDigest")}</dt>
        <dd>
          <code>{digest}</code>
        </dd>
      </dl>
      <p class="description" tabindex={0}>
        <Foreign text={String(definition["description"] ?? "")} />
      </p>
      <LateDetails summary={t("definition")} content={() => <Json value={definition} />} />
      {readOnlyReason !== undefined && <p class="dim">{t("readOnly", { reason: readOnlyReason })}</p>}
      {session.value?.mayChange && readOnlyReason === undefined && (
        <p class="actions">
          <button class="main" disabled={isBusy} onClick={approve}>
            {t("approve")}
          </button>
        </p>
      )}
      {error && <Failure error={error} />}
    </section>
  );
}
