// A client of the API in another language, on code generated from the proto files.
// Usage: node client.mjs SOCKET; prints what it saw as JSON.

import grpc from "@grpc/grpc-js";
import api from "./api.cjs";

const v1 = api.twolane.v1;

/** The methods of one service as grpc-js wants them. */
function serviceOf(name, methods) {
  const definition = {};
  for (const [method, request, response, responseStream] of methods) {
    definition[method] = {
      path: `/twolane.v1.${name}/${method}`,
      requestStream: false,
      responseStream,
      requestSerialize: (value) => Buffer.from(v1[request].encode(v1[request].fromObject(value)).finish()),
      requestDeserialize: (bytes) => v1[request].decode(bytes),
      responseSerialize: (value) => Buffer.from(v1[response].encode(value).finish()),
      responseDeserialize: (bytes) => v1[response].decode(bytes),
    };
  }
  return grpc.makeGenericClientConstructor(definition, name);
}

const Archive = serviceOf("ArchiveService", [["Save", "SaveRequest", "SaveResponse", false]]);
const Search = serviceOf("SearchService", [
  ["Search", "SearchRequest", "SearchResponse", true],
  ["OpenEvidence", "OpenEvidenceRequest", "OpenEvidenceResponse", false],
]);

const target = `unix:${process.argv[2]}`;
const credentials = grpc.credentials.createInsecure();
const options = { "grpc.default_authority": "localhost" };
const archive = new Archive(target, credentials, options);
const search = new Search(target, credentials, options);

function call(client, method, request) {
  return new Promise((resolve, reject) =>
    client[method](request, (error, reply) => (error ? reject(error) : resolve(reply))),
  );
}

async function answers(request) {
  const found = [];
  for await (const answer of search.Search(request)) found.push(answer);
  return found;
}

const saved = await call(archive, "Save", { source: "node", summary: "The ferry leaves at noon." });
const found = await answers({ query: "ferry noon" });
const opened = await call(search, "OpenEvidence", { id: saved.id });
let refused = {};
try {
  await answers({ query: "ferry", topK: 999 });
} catch (error) {
  refused = { code: error.code, message: error.details, hasDetails: error.metadata.get("grpc-status-details-bin").length > 0 };
}
const watched = search.Search({ query: "ferry" });
watched.on("error", () => {});
watched.cancel();

console.log(
  JSON.stringify({
    saved: saved.id,
    found: found.at(-1).results.map((result) => result.id),
    final: found.at(-1).final,
    content: opened.content,
    refused,
  }),
);
archive.close();
search.close();
