// Produit de matrices en TF32 avec la plus petite forme, m16n8k4.
#include <cuda_runtime.h>

__global__ void produit(float *A, float *B, float *C, int lignes, int colonnes, int interne)
{
    int voie = threadIdx.x % 32;             // voie dans le warp
    int warp = threadIdx.x / 32;
    int i = (blockIdx.y * 2 + warp) * 16 + voie / 4;
    int j = blockIdx.x * 8;
    float c[4] = {0.f};
    for (int p = 0; p < interne; p += 4) {
        float a0 = A[i * interne + p + voie % 4];
        float a1 = A[(i + 8) * interne + p + voie % 4];
        float b0 = B[(p + voie % 4) * colonnes + j + voie / 4];
        // les 13 bits de poids faible sont ignorés par le matériel
        asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(__float_as_uint(a0)), "r"(__float_as_uint(a1)), "r"(__float_as_uint(b0)));
    }
    int s = j + voie % 4 * 2;
    C[i * colonnes + s] = c[0];
    C[i * colonnes + s + 1] = c[1];
    C[(i + 8) * colonnes + s] = c[2];
    C[(i + 8) * colonnes + s + 1] = c[3];
}

int main()
{
    int lignes = 96, colonnes = 64, interne = 32;
    float *A, *B, *C;
    cudaMalloc(&A, lignes * interne * sizeof(float));
    cudaMalloc(&B, interne * colonnes * sizeof(float));
    cudaMalloc(&C, lignes * colonnes * sizeof(float));
    dim3 grille(colonnes / 8, lignes / 32);
    produit<<<grille, 64>>>(A, B, C, lignes, colonnes, interne);
    cudaDeviceSynchronize();
    return 0;
}
