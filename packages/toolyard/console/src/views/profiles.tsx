import { useState } from "preact/hooks";
import type { ProfileRow } from "../../../src/features/console/api-types.ts";
import type { ProfileDetail } from "../../../src/features/console/user-types.ts";
import { formatNumber, t } from "../i18n/texts.ts";
import { href, route } from "../route.ts";
import { Commands, CopyButton, Foreign, Name, Pending } from "../ui/parts.tsx";
import { Table } from "../ui/table.tsx";
import { useData } from "../ui/use-data.ts";

const MAX_NAMES = 500;

export function Profiles() {
  const { data, error, reload } = useData<{ readonly profiles: readonly ProfileRow[] }>("profiles", "sources", "lists");
  const chosen = route.value[1];
  if (!data) return <Pending error={error} retry={reload} />;
  const found = data.profiles.find(({ name }) => name === chosen);
  return (
    <>
      {data.profiles.length === 0 && <p>{t("noProfiles")}</p>}
      <div class="split">
        {data.profiles.length > 0 && (
          <Table title={t("profiles")} heads={["name", "tools", "prompts", "resources"]}>
            {data.profiles.map((profile) => (
              <Row key={profile.name} profile={profile} isChosen={profile === found} />
            ))}
          </Table>
        )}
        {found && <Detail key={found.name} profile={found} />}
      </div>
      <Commands lines={["toolyard status", `toolyard connect CLIENT --profile ${found?.name ?? "NAME"}`]} />
    </>
  );
}

function Row({ profile, isChosen }: { readonly profile: ProfileRow; readonly isChosen: boolean }) {
  const { name, title = "", tools, prompts, resources } = profile;
  return (
    <tr aria-selected={isChosen}>
      <th scope="row">
        <a href={href("profiles", name)}>
          <Name text={name} />
        </a>
        <small class="dim">
          <Name text={title} />
        </small>
      </th>
      <td class="number">{formatNumber(tools)}</td>
      <td class="number">{formatNumber(prompts)}</td>
      <td class="number">{formatNumber(resources)}</td>
    </tr>
  );
}

function Detail({ profile }: { readonly profile: ProfileRow }) {
  const { name, url, roles, rights, toolMode } = profile;
  const { data, error, reload } = useData<ProfileDetail>(`profiles/${encodeURIComponent(name)}`, "lists", "sources");
  return (
    <section class="card detail" aria-label={name}>
      <h2>
        <Name text={profile.title ?? name} />
      </h2>
      <p>
        <code>{url}</code> <CopyButton text={url} />
      </p>
      <dl>
        <dt>{t("rights")}</dt>
        <dd>
          <Foreign text={rights} />
        </dd>
        <dt>{t("roles")}</dt>
        <dd>
          <Foreign text={roles?.join(", ") ?? t("allCallers")} />
        </dd>
        <dt>{t("toolMode")}</dt>
        <dd>{toolMode ?? "–"}</dd>
      </dl>
      {data ? <Content data={data} /> : <Pending error={error} retry={reload} />}
    </section>
  );
}

function Content({ data }: { readonly data: ProfileDetail }) {
  const [at, setAt] = useState(0);
  const client = data.clients[at];
  return (
    <>
      {data.instructions !== undefined && (
        <p class="description" tabindex={0}>
          <Foreign text={data.instructions} />
        </p>
      )}
      <Names title={t("tools")} names={data.tools} />
      <Names title={t("prompts")} names={data.prompts} />
      <Names title={t("resources")} names={data.resources} />
      <h3>{t("connect")}</h3>
      <label>
        {t("client")}{" "}
        <select value={String(at)} onChange={(event) => setAt(Number(event.currentTarget.value))}>
          {data.clients.map(({ program }, index) => (
            <option key={program} value={String(index)}>
              {program}
            </option>
          ))}
        </select>
      </label>
      {client && (
        <>
          <p>
            <code>{client.place}</code> <CopyButton text={client.place} />
          </p>
          <pre tabindex={0} dir="ltr">
            {client.text}
          </pre>
          <CopyButton text={client.text} />
        </>
      )}
    </>
  );
}

function Names({ title, names }: { readonly title: string; readonly names: readonly string[] }) {
  return (
    <details>
      <summary>
        {title} ({formatNumber(names.length)})
      </summary>
      <ul class="names">
        {names.slice(0, MAX_NAMES).map((name) => (
          <li key={name}>
            <Name text={name} />
          </li>
        ))}
      </ul>
    </details>
  );
}
