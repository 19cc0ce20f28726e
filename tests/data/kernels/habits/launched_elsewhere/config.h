#ifndef CONFIG_H
#define CONFIG_H
typedef float real_t;
#define TILE_DIM 8
#endif
