// What report.html needs of Observable Plot. plot.min.js is this file, bundled:
//   npm install @observablehq/plot@0.6.17 d3@7.9.2 esbuild@0.28.2
//   npx esbuild plot.entry.mjs --bundle --minify --format=iife --global-name=Charts --target=es2020 --legal-comments=none --banner:js="$(cat plot.licence.txt)" --outfile=plot.min.js
export {areaY, barX, barY, dot, lineY, plot, pointer, pointerX, pointerY, rectY, ruleX, ruleY, text, tickX, tip} from "@observablehq/plot";
