#!/usr/bin/env node
import { runService } from "toolyard/service/run";
import { library } from "./service.ts";

await runService(library);
