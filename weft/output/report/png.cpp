// SPDX-License-Identifier: Apache-2.0
// SVG pictures as PNG, by librsvg.
#include <weft/output/report/picture.hpp>

#ifdef WEFT_RSVG
#include <cairo.h>
#include <librsvg/rsvg.h>

#include <weft/base/loaded_library.hpp>
#endif

namespace weft::report {

namespace {

Error without_librsvg() {
  return Error::run(
      "without the library librsvg pictures are SVG only; weft doctor says what to install");
}

}  // namespace

#ifndef WEFT_RSVG

bool has_png() {
  return false;
}
Result<std::string> to_png(const std::string&, double) {
  return without_librsvg();
}

#else

namespace {

// Loaded when the first picture is drawn: librsvg with all that it needs takes longer to load than
// most commands to run.
struct Drawing {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration cannot have them.
#define WEFT_EACH_NAME(name) decltype(&::name) name = nullptr;
#include "png_names.inc"
#undef WEFT_EACH_NAME
  bool there = false;

  static const Drawing& get() {
    static const Drawing drawing;
    return drawing;
  }

 private:
  Drawing() {
    LoadedLibrary library(WEFT_RSVG);
#define WEFT_EACH_NAME(name) library.find(#name, name);
#include "png_names.inc"
#undef WEFT_EACH_NAME
    there = library.is_complete();
  }
};

}  // namespace

bool has_png() {
  return Drawing::get().there;
}

Result<std::string> to_png(const std::string& svg, double scale) {
  const Drawing& lib = Drawing::get();
  if (!lib.there) return without_librsvg();
  GError* error = nullptr;
  RsvgHandle* const handle = lib.rsvg_handle_new_from_data(
      reinterpret_cast<const guint8*>(svg.data()), svg.size(), &error);
  if (handle == nullptr) {
    const std::string text = error == nullptr ? "" : error->message;
    lib.g_clear_error(&error);
    return Error::run("librsvg cannot read the picture: " + text);
  }
  gdouble width = 960, height = 600;
  if (!lib.rsvg_handle_get_intrinsic_size_in_pixels(handle, &width, &height)) {
    gboolean has_width = 0, has_height = 0, has_box = 0;
    RsvgLength w = {}, h = {};
    RsvgRectangle box = {};
    lib.rsvg_handle_get_intrinsic_dimensions(handle, &has_width, &w, &has_height, &h, &has_box,
                                             &box);
    if (has_box != 0) {
      width = box.width;
      height = box.height;
    }
  }
  width *= scale;
  height *= scale;
  cairo_surface_t* const surface = lib.cairo_image_surface_create(
      CAIRO_FORMAT_ARGB32, static_cast<int>(width), static_cast<int>(height));
  cairo_t* const pen = lib.cairo_create(surface);
  const RsvgRectangle all = {0, 0, width, height};
  const bool drawn = lib.rsvg_handle_render_document(handle, pen, &all, &error) != 0;
  lib.g_clear_error(&error);
  std::string png;
  const auto take = [](void* to, const unsigned char* data, unsigned size) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), size);
    return CAIRO_STATUS_SUCCESS;
  };
  const bool written =
      drawn && lib.cairo_surface_write_to_png_stream(surface, take, &png) == CAIRO_STATUS_SUCCESS;
  lib.cairo_destroy(pen);
  lib.cairo_surface_destroy(surface);
  lib.g_object_unref(handle);
  if (!written) return Error::run("the picture cannot be drawn; is there enough memory?");
  return png;
}

#endif

}  // namespace weft::report
