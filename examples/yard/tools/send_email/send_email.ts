import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createTransport } from "nodemailer";

const { to, subject, body } = JSON.parse(readFileSync(0, "utf8")) as { to: string; subject: string; body: string };
const mail = { from: process.env["SMTP_FROM"] ?? "toolyard@localhost", to, subject, text: body };

// With SMTP_URL (smtp://user:password@host:587) the mail is sent; without it, the mail is written to the yard's outbox.
if (process.env["SMTP_URL"]) {
  const { messageId } = await createTransport(process.env["SMTP_URL"]).sendMail(mail);
  console.log(JSON.stringify({ status: "sent", messageId }));
} else {
  const outbox = new URL("../../outbox/", import.meta.url);
  const { message, messageId } = await createTransport({ streamTransport: true, buffer: true }).sendMail(mail);
  const file = `${new Date().toISOString().replaceAll(":", "-")}.eml`;
  mkdirSync(outbox, { recursive: true });
  writeFileSync(new URL(file, outbox), message as Buffer);
  console.log(JSON.stringify({ status: "written", file: `outbox/${file}`, messageId }));
}
