import type { PageTexts } from "./page-texts.ts";

export const EN: PageTexts = {
  language: "en",
  signIn: "Sign in",
  userName: "User name",
  password: "Password",
  wrongPassword: "The user name or the password is wrong.",
  tooManyAttempts: "There were too many attempts. Try again in {seconds} seconds.",
  signInWith: "Sign in with {provider}",
  providerFailed: "The sign-in with {provider} failed ({reason}). Try again, or choose another way.",
  signInFor: "You sign in to use this hub with {client}.",
  consent: "Allow access?",
  asks: "{client} asks for access to this hub in your name.",
  signedInAs: "You are signed in as {user}.",
  redirect: "Afterwards you are sent to {host}. Only continue if you know this address.",
  localRedirect:
    "Afterwards you are sent to a program on this computer ({host}). Only continue if you started it yourself.",
  permissions: "The client may:",
  scopeBase: "use the tools that you may use",
  scopeOffline: "stay signed in until you remove it",
  scopeOpenid: "read your user name",
  allow: "Allow",
  deny: "Deny",
  otherUser: "Sign in as another user",
  error: "The sign-in cannot continue",
  expired: "This sign-in has expired or was already used. Start it again in your client.",
  cannotContinue: "The client sent a request that this hub refuses ({reason}). Start again in your client.",
};
